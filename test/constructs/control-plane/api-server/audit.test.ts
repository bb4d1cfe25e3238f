import type { V1PodSpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkedConfiguration } from '../../../../constructs/control-plane/api-server/checked-configuration.ts';
import { policyFile } from '../../../../constructs/control-plane/api-server/audit/audit.ts';
import { fanOutKubeconfig } from '../../../../constructs/control-plane/api-server/audit/webhook.ts';
import { auditTargets } from '../../../../constructs/control-plane/api-server/audit/targets.ts';
import { restartsWithAnnotation } from '../../../../constructs/pod/component.ts';
import { clusterOf, Rendered } from '../../../support/rendered-cluster.ts';

const pem = '-----BEGIN CERTIFICATE-----\n';
const policy = { rules: [{ level: 'Metadata' as const }] };
const one = { server: 'https://one.example.org/k8s', authentication: { secretName: 'one' } };
const two = { server: 'https://two.example.org:8443', certificateAuthority: `${pem}two` };

const changesWith = (audit: object) => ({ spec: { deployment: { apiServer: { audit: { policy, ...audit } } } } });
const rendered = (audit: object = {}) => new Rendered(changesWith(audit));
const flags = (audit: object = {}) => rendered(audit).flags('c1-api-server', 'kube-apiserver');
const files = (audit: object = {}) => rendered(audit).object('ConfigMap', 'c1-audit')['data'] as Record<string, string>;
const volume = (audit: object, name: string) =>
  rendered(audit)
    .workload('c1-api-server')
    .pod.volumes?.find((found) => found.name === name)?.projected?.sources;

const sidecars = (all: Rendered) =>
  (all.workload('c1-api-server').pod.initContainers ?? []).map(({ name, restartPolicy }) =>
    restartPolicy === 'Always' ? name : `${name}, which is no sidecar`,
  );

const rule = { level: 'Request' as const };
describe('the file of a policy', () => {
  it.each([
    ['the order of users', { users: ['b', 'a'] }, { users: ['a', 'b', 'a'] }],
    ['empty lists', { users: [], resources: [], omitStages: [] }, {}],
    [
      'the order of resources',
      { resources: [{ group: 'apps', resources: ['b', 'a'] }, { resources: ['pods'] }] },
      {
        resources: [
          { group: '', resources: ['pods'] },
          { group: 'apps', resources: ['a', 'b'] },
        ],
      },
    ],
  ])('is the same whatever %s', (_, first, second) => {
    expect(policyFile({ rules: [{ ...rule, ...first }] })).toBe(policyFile({ rules: [{ ...rule, ...second }] }));
  });

  it.each([
    ['another level', { level: 'None' as const }],
    ['a user', { users: ['a'] }],
    ['all resources of the core group', { resources: [{}] }],
    ['a name', { resources: [{ resources: ['pods'], resourceNames: ['a'] }] }],
    ['what takes precedence over the policy', { omitManagedFields: false }],
    ['a path', { nonResourceURLs: ['/healthz*'] }],
  ])('differs for %s', (_, change) => {
    expect(policyFile({ rules: [{ ...rule, ...change }] })).not.toBe(policyFile({ rules: [rule] }));
  });

  it('keeps the order of rules, because the first one that matches applies', () => {
    const rules = [{ level: 'None' as const, users: ['a'] }, { level: 'Metadata' as const }];
    expect(parse(policyFile({ rules, omitStages: ['RequestReceived'] }))).toEqual({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived'],
      rules,
    });
  });
});

describe('audit', () => {
  it('leaves an API server alone that has none', () => {
    expect(JSON.stringify(new Rendered().objects)).not.toContain('audit');
  });

  it('goes to standard output without a webhook, in the mode of the spec', () => {
    expect(flags({ mode: 'blocking' })).toMatchObject({
      'audit-log-mode': 'blocking',
      'audit-log-path': '-',
      'audit-policy-file': '/etc/kubernetes/audit/policy.yaml',
    });
    expect(Object.keys(files())).toEqual(['policy.yaml']);
    expect(volume({}, 'audit')).toEqual([
      { configMap: { name: 'c1-audit', items: [{ key: 'policy.yaml', path: 'policy.yaml' }] } },
    ]);
  });

  it('goes straight to a single receiver, with the token in a file that the API server reads again', () => {
    const audit = { webhook: { targets: [one] } };
    expect(flags(audit)).toMatchObject({
      'audit-webhook-config-file': '/etc/kubernetes/audit/webhook.yaml',
      'audit-webhook-mode': 'batch',
    });
    expect(flags(audit)).not.toHaveProperty('audit-log-path');
    expect(parse(files(audit)['webhook.yaml'] ?? '')).toMatchObject({
      clusters: [{ cluster: { server: one.server } }],
      users: [{ user: { tokenFile: '/etc/kubernetes/audit/token' } }],
    });
    const [{ id } = { id: '' }] = auditTargets(clusterOf(changesWith(audit)));
    expect(volume(audit, 'audit')?.[1]).toEqual({
      secret: { name: 'c1-audit-tokens', items: [{ key: `token-${id}`, path: 'token' }] },
    });
    expect(sidecars(rendered(audit))).toEqual(['konnectivity-server']);
  });

  it('verifies a receiver by its own CA, and sends no token where none is asked for', () => {
    const webhook = parse(files({ webhook: { targets: [two] } })['webhook.yaml'] ?? '') as object;
    expect(webhook).toMatchObject({
      clusters: [{ cluster: { 'certificate-authority-data': Buffer.from(`${pem}two`).toString('base64') } }],
      users: [{ user: {} }],
    });
    expect(JSON.stringify(volume({ webhook: { targets: [two] } }, 'audit'))).not.toContain('secret');
  });

  it('goes to several receivers through a sidecar on the loopback address', () => {
    const audit = { mode: 'blocking-strict', webhook: { targets: [two, one] } };
    const all = rendered(audit);
    expect(Object.keys(files(audit))).toEqual(['fan-out.json', 'policy.yaml']);
    expect(parse(fanOutKubeconfig('its-token'))).toMatchObject({
      clusters: [{ cluster: { server: 'http://audit:its-token@127.0.0.1:8135' } }],
    });
    expect(sidecars(all)).toEqual(['audit-webhook', 'konnectivity-server']);
    expect(flags(audit)).toMatchObject({ 'audit-webhook-truncate-enabled': 'true' });
    const { id } = auditTargets(clusterOf(changesWith(audit))).find(({ server }) => server === one.server)!;
    expect(JSON.parse(files(audit)['fan-out.json'] ?? '')).toEqual({
      mode: 'blocking-strict',
      targets: [{ server: one.server, tokenFile: `/etc/audit/token-${id}` }, two],
    });
    const keys = (name: string) => volume(audit, name)?.[1]?.secret?.items?.map(({ key }) => key);
    expect(keys('audit')).toEqual(['webhook.yaml']);
    expect(keys('audit-webhook')).toEqual(['token', `token-${id}`]);
  });

  it('restarts API servers for another policy or receiver, and for nothing that means the same', () => {
    const restarts = (audit: object) =>
      rendered(audit).workload('c1-api-server').template.metadata?.annotations?.[restartsWithAnnotation];
    const both = { webhook: { targets: [one, two] } };
    expect(restarts(both)).toBe(restarts({ webhook: { targets: [two, one, two] } }));
    expect(restarts({})).not.toBe(restarts({ policy: { rules: [rule] } }));
    expect(restarts({ webhook: { targets: [one] } })).not.toBe(restarts({ webhook: { targets: [two] } }));
  });

  it('never keeps a token under a key that another receiver has had', () => {
    const targets = [
      one,
      { ...one, server: 'https://elsewhere.example.org' },
      { ...one, authentication: { secretName: 'one', secretNamespace: 'other' } },
      { ...one, authentication: { secretName: 'one', tokenKey: 'other' } },
      { ...one, certificateAuthority: `${pem}other` },
    ];
    const ids = auditTargets(clusterOf(changesWith({ webhook: { targets } }))).map(({ id }) => id);
    expect(new Set(ids).size).toBe(targets.length);
  });
});

describe('the check of audit', () => {
  const checkOf = (audit: object) => {
    const { spec } = clusterOf(changesWith(audit));
    const all = new Rendered(changesWith(audit), { apiServerCheck: spec });
    const { containers, volumes = [] } = all.object('Pod', 'c1-api-server-check')['spec'] as V1PodSpec;
    const [container] = containers;
    const mounted = (container?.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
      const sources = volumes.find((one) => one.name === name)?.projected?.sources ?? [];
      return sources.flatMap(({ configMap }) => (configMap?.items ?? []).map(({ path }) => `${mountPath}/${path}`));
    });
    const named = (container?.args ?? []).flatMap((arg) => /^--audit-.*-file=(.*)$/.exec(arg)?.[1] ?? []);
    return { mounted, named, data: all.object('ConfigMap', 'c1-api-server-check')['data'] as Record<string, string> };
  };

  it.each<[string, object]>([
    ['without a webhook', {}],
    ['with one receiver', { webhook: { targets: [one] } }],
    ['with several receivers', { webhook: { targets: [one, two] } }],
  ])('%s has every file that its flags name, and no token', (_, audit) => {
    const { mounted, named, data } = checkOf(audit);
    expect(mounted.toSorted()).toEqual(named.toSorted());
    expect(data['policy.yaml']).toBe(files(audit)['policy.yaml']);
    expect(JSON.stringify(data)).not.toContain('tokenFile');
  });

  it('has the receiver with its CA', () => {
    const audit = { webhook: { targets: [two] } };
    expect(checkOf(audit).data['webhook.yaml']).toBe(files(audit)['webhook.yaml']);
  });

  it.each<[string, object]>([
    ['policy', { policy: { rules: [rule] } }],
    ['receiver', { webhook: { targets: [one] } }],
    ['mode', { mode: 'blocking' }],
  ])('is repeated for another %s', (_, audit) => {
    expect(checkedConfiguration(clusterOf(changesWith({})))).not.toBe(
      checkedConfiguration(clusterOf(changesWith(audit))),
    );
  });
});
