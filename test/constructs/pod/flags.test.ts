import { describe, expect, it } from 'vitest';
import { fanOutFlags } from '../../../constructs/control-plane/api-server/audit/fan-out.ts';
import { auditTargets } from '../../../constructs/control-plane/api-server/audit/targets.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import { controllerManagerFlags } from '../../../constructs/control-plane/controllers/controller-manager.ts';
import { type Flag, overruledFlags, renderFlags } from '../../../constructs/pod/flags.ts';
import { konnectivityServerFlags } from '../../../constructs/control-plane/api-server/konnectivity-server.ts';
import { kubeClientFlags } from '../../../constructs/control-plane/controllers/kube-client-component.ts';
import { schedulerFlags } from '../../../constructs/control-plane/controllers/scheduler.ts';
import { renderSamples, workloadsOf } from '../../support/rendered-objects.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

const required: readonly Flag[] = [
  ['bind-address', '0.0.0.0', ''],
  ['secure-port', '6443', ''],
];

describe('flags', () => {
  it('are sorted, independent of their origin', () => {
    expect(renderFlags(required, { v: '2', 'audit-log-path': '-' })).toEqual([
      '--audit-log-path=-',
      '--bind-address=0.0.0.0',
      '--secure-port=6443',
      '--v=2',
    ]);
  });

  it('of the provider take precedence over those of the user', () => {
    expect(renderFlags(required, { 'secure-port': '1' })).toEqual(renderFlags(required));
  });

  it('that are overridden are reported, unless the values are equal', () => {
    expect(overruledFlags(required, { 'secure-port': '1', 'bind-address': '0.0.0.0', v: '2' })).toEqual([
      'secure-port',
    ]);
    expect(overruledFlags(required)).toEqual([]);
  });

  it.each<[string, Flag, string, string | undefined, string[]]>([
    [
      'pairs, the operator wins by key',
      ['feature-gates', 'Ours=true', ''],
      'A=true, Ours=false,B=false',
      'A=true,B=false,Ours=true',
      ['feature-gates=Ours=false'],
    ],
    ['an equal pair', ['feature-gates', 'Ours=true', ''], 'A=true,Ours=true', 'A=true,Ours=true', []],
    [
      'plugins',
      ['enable-admission-plugins', 'NodeRestriction', ''],
      'AlwaysPullImages,EventRateLimit',
      'NodeRestriction,AlwaysPullImages,EventRateLimit',
      [],
    ],
    [
      'a complete list in an order of its own',
      ['authorization-mode', 'Node,RBAC', ''],
      'Webhook,Node,RBAC',
      'Webhook,Node,RBAC',
      [],
    ],
    ['a part of it', ['authorization-mode', 'Node,RBAC', ''], 'Webhook,RBAC', 'Node,Webhook,RBAC', []],
    [
      'a preference before those of the operator',
      ['kubelet-preferred-address-types', 'InternalIP,Hostname', ''],
      'ExternalIP,InternalIP',
      'ExternalIP,InternalIP,Hostname',
      [],
    ],
    [
      'an entry that contradicts',
      ['authorization-mode', 'Node,RBAC', '', ['AlwaysAllow']],
      'AlwaysAllow,RBAC',
      'Node,RBAC',
      ['authorization-mode=AlwaysAllow'],
    ],
    [
      'only entries that contradict, of a list to which the operator adds none',
      ['disable-admission-plugins', '', '', ['NodeRestriction']],
      ' NodeRestriction',
      undefined,
      ['disable-admission-plugins=NodeRestriction'],
    ],
    [
      'other entries of such a list',
      ['disable-admission-plugins', '', '', ['NodeRestriction']],
      'PodSecurity,NodeRestriction,PodSecurity',
      'PodSecurity',
      ['disable-admission-plugins=NodeRestriction'],
    ],
    ['an empty list', ['enable-admission-plugins', 'NodeRestriction', ''], ' ,', 'NodeRestriction', []],
  ])('that are lists are merged: %s', (_, ours, users, merged, overruled) => {
    const given = { [ours[0]]: users };
    expect(renderFlags([ours], given)).toEqual(merged === undefined ? [] : [`--${ours[0]}=${merged}`]);
    expect(overruledFlags([ours], given)).toEqual(overruled);
  });

  it('that are lists without entries are not rendered', () => {
    expect(renderFlags([['disable-admission-plugins', '', '']])).toEqual([]);
  });

  it('may have an empty value', () => {
    expect(renderFlags([], { 'feature-gates': '' })).toEqual(['--feature-gates=']);
  });
});

const cluster = clusterOf();
const receivers = ['https://a.example.org', 'https://b.example.org'].map((server) => ({ server }));
const audited = (audit: object): Flag[] => {
  const spec = { deployment: { apiServer: { audit: { policy: { rules: [] }, ...audit } } } };
  return apiServerFlags(clusterOf({ spec }), knownFacts.endpoint, knownFacts);
};
const tables: [name: string, flags: readonly Flag[]][] = [
  ['the API server', apiServerFlags(cluster, knownFacts.endpoint, knownFacts)],
  ['the API server behind a host name', apiServerFlags(cluster, knownFacts.endpoint)],
  [
    'the API server that emulates',
    apiServerFlags({ ...cluster, binaries: 'v1.37.1' }, knownFacts.endpoint, knownFacts),
  ],
  ['the API server with audit to its output', audited({})],
  ['the API server with audit to several receivers', audited({ webhook: { targets: receivers } })],
  ['the controller manager', controllerManagerFlags(cluster)],
  ['the konnectivity server', konnectivityServerFlags],
  ['the audit fan-out', fanOutFlags],
  ['the scheduler', schedulerFlags],
];

describe.each(tables)('the table of %s', (_, flags) => {
  const names = flags.map(([name]) => name);

  it('has each flag once, without dashes', () => {
    expect(names).toEqual([...new Set(names)]);
    expect(names.filter((name) => !/^[a-z][a-z-]+[a-z]$/.test(name))).toEqual([]);
  });

  it('is sorted, except for what precedes it in all cases or for one exposure strategy', () => {
    const inFront = [...kubeClientFlags.map(([name]) => name), 'endpoint-reconciler-type'];
    const own = flags === kubeClientFlags ? names : names.filter((name) => !inFront.includes(name));
    expect(own).toEqual([...own].sort());
  });
});

/** Once for each issuer. */
const repeated = '--service-account-issuer';

it.each(await renderSamples())(
  'every argument list of sample $name is sorted and has each flag once',
  ({ objects, cluster: sample }) => {
    const lists = workloadsOf(objects).flatMap(({ containers }) => containers.map(({ args = [] }) => args));
    // The tunnel, if there is one, is configured by a file.
    const sidecars = auditTargets(sample).length > 1 ? 1 : 0;
    expect(lists.filter(({ length }) => length > 0)).toHaveLength(5 + sidecars);
    for (const args of lists) {
      const names = args.map((arg) => arg.slice(0, arg.indexOf('=')));
      const once = names.filter((name, index) => name !== repeated || names.indexOf(name) === index);
      expect(names).toEqual(names.toSorted());
      expect(once).toEqual([...new Set(names)]);
    }
  },
);
