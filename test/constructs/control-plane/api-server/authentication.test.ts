import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import {
  authenticationConfiguration,
  authenticationFile,
} from '../../../../constructs/control-plane/api-server/authentication.ts';
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
