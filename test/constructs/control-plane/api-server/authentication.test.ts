import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import {
  argumentsBesideFile,
  authenticationConfiguration,
  authenticationFile,
} from '../../../../constructs/control-plane/api-server/authentication.ts';
import { overruledSettings } from '../../../../constructs/ineffective-settings.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const plain = { audiences: ['kubernetes'], claimMappings: { username: 'claims.sub' } };
const full = {
  certificateAuthority: '-----BEGIN CERTIFICATE-----\nof the issuer',
  audiences: ['web', 'kubernetes'],
  claimValidationRules: [
    { expression: 'claims.hd == "example.org"', message: 'another domain' },
    { expression: 'true' },
  ],
  claimMappings: { username: '"sso:" + claims.email', groups: 'claims.groups' },
};
const providers = { 'https://z.example.org': plain, 'https://a.example.org:8443/realm': full };

const configurationOf = (spec: object) => authenticationConfiguration(clusterOf({ spec }));

describe('the authentication configuration', () => {
  it('has every field of each issuer, sorted by URL', () => {
    const text = configurationOf({ oidcProviders: providers });
    expect(parse(text ?? '')).toEqual({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      jwt: [
        {
          issuer: {
            url: 'https://a.example.org:8443/realm',
            certificateAuthority: '-----BEGIN CERTIFICATE-----\nof the issuer',
            audiences: ['kubernetes', 'web'],
            audienceMatchPolicy: 'MatchAny',
          },
          claimValidationRules: [
            { expression: 'claims.hd == "example.org"', message: 'another domain' },
            { expression: 'true' },
          ],
          claimMappings: { username: { expression: '"sso:" + claims.email' }, groups: { expression: 'claims.groups' } },
        },
        {
          issuer: { url: 'https://z.example.org', audiences: ['kubernetes'], audienceMatchPolicy: 'MatchAny' },
          claimMappings: { username: { expression: 'claims.sub' } },
        },
      ],
    });
  });

  it('is the same text for the same issuers in another order', () => {
    const turned = Object.fromEntries(
      Object.entries(providers)
        .reverse()
        .map(([url, one]) => [
          url,
          Object.fromEntries(Object.entries({ ...one, audiences: one.audiences.toReversed() }).reverse()),
        ]),
    );
    expect(configurationOf({ oidcProviders: turned })).toBe(configurationOf({ oidcProviders: providers }));
  });

  it.each([
    ['v1.32.0', 'v1beta1'],
    ['v1.33.9', 'v1beta1'],
    ['v1.34.0', 'v1'],
    ['v1.35.2', 'v1'],
    ['v1.36.3', 'v1'],
  ])('of %s has the version %s', (version, expected) => {
    const { apiVersion } = parse(configurationOf({ version, oidcProviders: providers }) ?? '') as {
      apiVersion: string;
    };
    expect(apiVersion).toBe(`apiserver.config.k8s.io/${expected}`);
  });

  it('does not exist without issuers', () => {
    expect(configurationOf({})).toBeUndefined();
    expect(configurationOf({ oidcProviders: {} })).toBeUndefined();
    const rendered = new Rendered();
    expect(rendered.flags('c1-api-server', 'kube-apiserver')).not.toHaveProperty('authentication-config');
    expect(JSON.stringify(rendered.objects)).not.toContain('c1-authentication');
  });
});

describe('an API server that refuses anonymous requests', () => {
  const refusing = (more: object = {}, value = 'false') =>
    clusterOf({ spec: { deployment: { apiServer: { args: { 'anonymous-auth': value, v: '2' } } }, ...more } });

  it('answers probes, and those who join, and has no flag beside the file that says so', () => {
    const cluster = refusing();
    expect(parse(authenticationConfiguration(cluster) ?? '')).toEqual({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AuthenticationConfiguration',
      anonymous: {
        enabled: true,
        conditions: [
          { path: '/healthz' },
          { path: '/livez' },
          { path: '/readyz' },
          { path: '/api/v1/namespaces/kube-public/configmaps/cluster-info' },
        ],
      },
      jwt: [],
    });
    const flags = new Rendered({ spec: cluster.spec }).flags('c1-api-server', 'kube-apiserver');
    expect(flags).toMatchObject({ 'authentication-config': expect.stringContaining(authenticationFile), v: '2' });
    expect(flags).not.toHaveProperty('anonymous-auth');
    expect(overruledSettings(cluster, {})).toEqual([]);
  });

  it('has token issuers beside that', () => {
    const { jwt, anonymous } = parse(authenticationConfiguration(refusing({ oidcProviders: providers })) ?? '') as {
      jwt: unknown[];
      anonymous: object;
    };
    expect([jwt.length, anonymous]).toMatchObject([2, { enabled: true }]);
  });

  it('keeps the flag that admits everything', () => {
    expect(authenticationConfiguration(refusing({}, 'true'))).toBeUndefined();
    const rendered = new Rendered({ spec: refusing({}, 'true').spec });
    expect(rendered.flags('c1-api-server', 'kube-apiserver')).toMatchObject({ 'anonymous-auth': 'true' });
  });

  it('keeps its flag by an earlier release revision, and the condition says what that means', () => {
    const cluster = { ...refusing(), release: releaseOf(36, 3) };
    expect(authenticationConfiguration(cluster)).toBeUndefined();
    expect(argumentsBesideFile(cluster)).toEqual({ 'anonymous-auth': 'false', v: '2' });
    expect(overruledSettings(cluster, {})).toEqual([expect.stringContaining('its probes get no answer: remove it')]);
  });
});

describe('an API server', () => {
  const rendered = (oidcProviders: object) => new Rendered({ spec: { oidcProviders } });

  it('reads the file that the ConfigMap has', () => {
    const { template, containers } = rendered(providers).workload('c1-api-server');
    const path = rendered(providers).flags('c1-api-server', 'kube-apiserver')['authentication-config'];
    const [mount] = (containers[0]?.volumeMounts ?? []).filter(({ name }) => name === 'authentication');
    expect(path).toBe(`${mount?.mountPath}/${authenticationFile}`);
    expect(mount?.subPath).toBeUndefined();
    const volume = template.spec?.volumes?.find(({ name }) => name === 'authentication');
    expect(volume?.projected?.sources).toEqual([
      { configMap: { name: 'c1-authentication', items: [{ key: authenticationFile, path: authenticationFile }] } },
    ]);
    expect(rendered(providers).object('ConfigMap', 'c1-authentication')['data']).toEqual({
      [authenticationFile]: configurationOf({ oidcProviders: providers }),
    });
  });

  it('is not restarted for a changed issuer', () => {
    const template = (oidcProviders: object) => rendered(oidcProviders).workload('c1-api-server').template;
    expect(template({ 'https://z.example.org': full })).toEqual(template(providers));
  });
});
