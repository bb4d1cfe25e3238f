import type { HostedControlPlaneObject } from '../../../reconciler/clusters/management/hosted-control-plane-object.ts';
import { describe, expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { describeFleet, list } from '../../../reconciler/cli/list.ts';
import { overviewOf } from '../../../reconciler/cli/overview.ts';
import type { View } from '../../../reconciler/cli/view.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { markedView, narrowView } from '../../support/marked-view.ts';
import { testSession } from '../../support/test-session.ts';

const now = Date.parse('2026-11-26T12:00:00Z');
const at = (hoursAgo: number) => new Date(now - hoursAgo * 3_600_000).toISOString();

const condition = (type: string, status: 'True' | 'False', reason: string, hoursAgo = 1) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: at(hoursAgo),
});

const controlPlane = (
  cluster: string,
  status?: HostedControlPlaneStatus,
  version = 'v1.37.1',
): HostedControlPlaneObject => ({
  apiVersion: HostedControlPlane.apiVersion,
  kind: HostedControlPlane.kind,
  metadata: { namespace: 'team', name: `${cluster}-x7k2p`, labels: { [clusterNameLabel]: cluster } },
  spec: { version, etcd: { backup: { secret: { name: 'etcd-backup' } } } },
  ...(status ? { status } : {}),
});

const member = (name: string, role: 'Leader' | 'Follower' | 'Lost') => ({ name, role });

const works: HostedControlPlaneStatus = {
  version: 'v1.37.1',
  releaseRevision: 3,
  replicas: 2,
  readyReplicas: 2,
  etcd: { members: [member('a', 'Leader'), member('b', 'Follower'), member('c', 'Follower')] },
  components: [{ name: 'etcd', ready: true, replicas: 3, readyReplicas: 3 }],
  certificatesNotAfter: at(-24 * 300),
  etcdLastBackupTime: at(3),
  conditions: [condition('Ready', 'True', 'Ready'), condition('Available', 'True', 'Available')],
};

const lost: HostedControlPlaneStatus = {
  ...works,
  readyReplicas: 0,
  etcd: { members: [member('a', 'Follower'), member('b', 'Lost'), member('c', 'Lost')] },
  components: [{ name: 'etcd', ready: false, replicas: 3, readyReplicas: 1 }],
  conditions: [
    condition('Ready', 'False', 'QuorumLost', 5),
    condition('Available', 'False', 'NotAvailable', 5),
    condition('EtcdClusterReady', 'False', 'QuorumLost', 5),
    condition('SchedulerReady', 'False', 'WaitingForOtherPhases', 5),
  ],
};

it('a fleet is a table in which those that do not serve come first, with what blocks them', () => {
  const fleet = [
    controlPlane('works', works),
    controlPlane('new'),
    controlPlane('lost', lost),
    controlPlane('rises', { ...works, version: 'v1.36.4' }),
  ];
  expect(describeFleet(fleet.map(overviewOf), { now, namespace: 'team' })).toEqual([
    'CLUSTER   VERSION              STATE        FOR   API SERVERS   ETCD   CERTIFICATES   LAST BACKUP',
    'lost      v1.37.1              QuorumLost   5h    0/2           1/3    300d           3h ago',
    'new       to v1.37.1           Unknown            0/0           -      -              never',
    'rises     v1.36.4 to v1.37.1   Ready              2/2           3/3    300d           3h ago',
    'works     v1.37.1              Ready              2/2           3/3    300d           3h ago',
    '',
    '4 control planes, 2 not Ready',
  ]);
});

it('tells apart what a user has asked for, what does not work, and what works with a problem beside it', () => {
  const own = (...more: ReturnType<typeof condition>[]): HostedControlPlaneStatus => ({
    ...works,
    conditions: [...(works.conditions ?? []), ...more],
  });
  const { etcdLastBackupTime: _, ...never } = works;
  const asleep: HostedControlPlaneStatus = {
    ...works,
    readyReplicas: 0,
    replicas: 0,
    components: [{ name: 'etcd', ready: false, replicas: 0, readyReplicas: 0 }],
    conditions: [condition('Ready', 'False', 'Hibernated', 2), condition('Awake', 'False', 'Hibernated', 2)],
  };
  const off = { ...controlPlane('off', own(condition('EtcdBackupReady', 'True', 'NotRequested'))), spec: {} };
  const fleet = [
    controlPlane('paused', own(condition('Paused', 'True', 'Paused', 30))),
    controlPlane('asleep', asleep),
    controlPlane('unsaved', own(condition('EtcdBackupReady', 'False', 'BackupSecretInvalid', 2))),
    controlPlane('flags', own(condition('SpecSupported', 'False', 'Overruled', 4))),
    controlPlane('first', never),
    off,
  ];
  const lines = describeFleet(fleet.map(overviewOf), { now, namespace: 'team' });
  expect(lines.map((line) => line.replace(/   \d+d  /, '   …   '))).toEqual([
    'CLUSTER   VERSION   STATE                  FOR   API SERVERS   ETCD   CERTIFICATES   LAST BACKUP',
    'flags     v1.37.1   Ready, flags ignored   4h    2/2           3/3    …            3h ago',
    'unsaved   v1.37.1   Ready, backups fail    2h    2/2           3/3    …            failing 2h',
    'asleep    v1.37.1   Hibernated             2h    0/0           0/0    …            3h ago',
    'first     v1.37.1   Ready                        2/2           3/3    …            never',
    'off       v1.37.1   Ready                        2/2           3/3    …            off',
    'paused    v1.37.1   Paused                 30h   2/2           3/3    …            3h ago',
    '',
    '6 control planes, 0 not Ready, 2 Ready with a problem, 1 paused, 1 hibernated',
  ]);
});

it('the members that voted before etcd stopped do not count', () => {
  const stopped = { ...works, components: [{ name: 'etcd' as const, ready: false, replicas: 3, readyReplicas: 0 }] };
  expect(overviewOf(controlPlane('a', stopped))).toMatchObject({ etcd: { ready: 0, total: 3 }, etcdMembers: null });
  expect(overviewOf(controlPlane('a', works)).etcdMembers).toEqual({ voting: 3, total: 3 });
});

it('over all namespaces each cluster has its namespace before its name', () => {
  const [, row] = describeFleet([overviewOf(controlPlane('works', works))], { now, namespace: undefined });
  expect(row).toMatch(/^team\/works /);
});

it('an expired certificate is said to be', () => {
  const [, row] = describeFleet([overviewOf(controlPlane('a', { ...works, certificatesNotAfter: at(2) }))], {
    now,
    namespace: 'team',
  });
  expect(row).toContain('expired 2h ago');
});

it('a wide list adds release, endpoint and age, and has the messages below it', () => {
  const message = 'two of three members\nare lost: restore a backup';
  const found = {
    ...controlPlane('lost', { ...lost, conditions: lost.conditions?.map((one) => ({ ...one, message })) }),
    spec: { version: 'v1.37.1', controlPlaneEndpoint: { host: '2001:db8::1', port: 6443 } },
  };
  const created = { ...found, metadata: { ...found.metadata, creationTimestamp: at(24 * 12) } };
  const fleet = [created, controlPlane('new'), controlPlane('works', works)].map(overviewOf);
  const wide = { now, namespace: 'team', isWide: true };
  const [heading = '', ...rows] = describeFleet(fleet, wide);
  const further = heading.indexOf('RELEASE');
  expect([heading, ...rows].map((line) => line.slice(further)).slice(0, 4)).toEqual([
    'RELEASE   ENDPOINT             AGE',
    '3         [2001:db8::1]:6443   12d',
    '-         -                    -',
    '3         -                    -',
  ]);
  expect(heading.slice(0, further).trimEnd()).toBe(describeFleet(fleet, { now, namespace: 'team' })[0]);
  const wrapped = describeFleet(fleet, wide, narrowView(40));
  expect(wrapped.slice(wrapped.indexOf('Messages:'))).toEqual([
    'Messages:',
    '  team/lost: two of three members',
    '    are lost: restore a backup',
  ]);
});

describe('a table that is not wide', () => {
  const named = (cluster: string, status: HostedControlPlaneStatus) => {
    const object = controlPlane(cluster, status);
    return overviewOf({ ...object, metadata: { ...object.metadata, namespace: 'a-namespace-of-20-ch' } });
  };
  const fleet = [named('cluster-of-20-chars-', works), named('lost', lost)];
  const shown = { now, namespace: undefined };

  it('leaves columns out that have no room in a terminal of 80 characters, and says so', () => {
    const lines = describeFleet(fleet, shown, narrowView(80));
    expect(lines).toEqual([
      'CLUSTER                                     VERSION   STATE        FOR   ETCD',
      'a-namespace-of-20-ch/lost                   v1.37.1   QuorumLost   5h    1/3',
      'a-namespace-of-20-ch/cluster-of-20-chars-   v1.37.1   Ready              3/3',
      '',
      '2 control planes, 1 not Ready',
      'no room for CERTIFICATES, LAST BACKUP, API SERVERS: -o wide shows all',
    ]);
    expect(describeFleet(fleet, { ...shown, isBare: true }, narrowView(80))).toEqual(lines.slice(1, 3));
  });

  it('leaves none out where there is room, in a pipe, or when it is asked for all', () => {
    const [heading = '', ...rows] = describeFleet(fleet, shown);
    expect(describeFleet(fleet, shown, narrowView(heading.length))).toEqual([heading, ...rows]);
    const [wide] = describeFleet(fleet, { ...shown, isWide: true }, narrowView(80));
    expect(wide).toContain(heading);
  });

  it('never cuts names, because a person copies them', () => {
    const lines = describeFleet(fleet, shown, narrowView(20));
    expect(lines[0]).toMatch(/^CLUSTER +VERSION +STATE$/);
    expect(lines[2]).toContain('a-namespace-of-20-ch/cluster-of-20-chars-   v1.37.1   Ready');
  });
});

it('states and expired certificates are painted by their meaning', () => {
  const waiting: HostedControlPlaneStatus = {
    conditions: [
      condition('Ready', 'False', 'WaitingForPods'),
      condition('EtcdClusterReady', 'False', 'WaitingForPods'),
    ],
  };
  const fleet = [
    controlPlane('works', { ...works, certificatesNotAfter: at(2) }),
    controlPlane('new'),
    controlPlane('lost', {
      conditions: [
        condition('Ready', 'False', 'QuorumLost'),
        condition('EtcdClusterReady', 'False', 'WaitingForPods'),
        condition('EtcdClusterHealthy', 'False', 'QuorumLost'),
      ],
    }),
    controlPlane('rises', waiting),
  ];
  const text = describeFleet(fleet.map(overviewOf), { now, namespace: 'team' }, markedView).join('\n');
  expect(text).toMatch(/^<heading>CLUSTER<\/heading> /);
  expect(text).toMatch(/^lost .* <fails>QuorumLost<\/fails> /m);
  expect(text).toMatch(/^new .* <unknown>Unknown<\/unknown> /m);
  expect(text).toMatch(/^rises .* <waits>WaitingForPods<\/waits> /m);
  expect(text).toMatch(/^works .* <ok>Ready<\/ok> .* <fails>expired 2h ago<\/fails> /m);
});

describe('hcp list', () => {
  const listed = async (output: string, view: View): Promise<string> => {
    const message = 'two of three members are lost: restore a backup';
    const conditions = lost.conditions?.map((one) => ({ ...one, message }));
    const items = [controlPlane('lost', { ...lost, conditions }), controlPlane('works', works)];
    const client = { list: async () => ({ items }) } as unknown as KubernetesApi;
    const { session, printed } = testSession({ client, namespace: 'team', now: () => now });
    await list.prepare({ positionals: [], values: { output } })({
      ...session,
      terminal: { ...session.terminal, ...view },
    });
    return printed.join('\n');
  };

  it('shows the wide table with the colours and the width of the terminal', async () => {
    expect(await listed('wide', markedView)).toMatch(/^<heading>CLUSTER<\/heading>.* <heading>AGE<\/heading>/);
    expect(await listed('wide', narrowView(40))).toContain('  team/lost: two of three members are\n');
  });

  it('gives programs the endpoint, the age and the message as well, without colours', async () => {
    const inColour = { ...markedView, width: 20 };
    const text = await listed('json', inColour);
    expect(text).not.toContain('<');
    expect(JSON.parse(text)).toMatchObject({
      controlPlanes: [
        { endpoint: null, created: null, blocker: { message: 'two of three members are lost: restore a backup' } },
        { blocker: null },
      ],
    });
    expect(await listed('yaml', inColour)).not.toContain('<');
    expect(await listed('name', inColour)).toBe('lost\nworks');
  });

  it('names the formats that there are', () => {
    expect(() => list.prepare({ positionals: [], values: { output: 'table' } })).toThrow(
      '-o must be one of json, yaml, wide, name, not "table"',
    );
  });
});

describe('hcp list --store', () => {
  const shared = { name: 'etcd-backup', namespace: 'platform' };
  const user = (
    namespace: string,
    cluster: string,
    secret: { readonly name: string; readonly namespace?: string } | undefined,
    status?: HostedControlPlaneStatus,
  ): HostedControlPlaneObject => {
    const object = controlPlane(cluster, status);
    const spec = { version: 'v1.37.1', etcd: secret ? { backup: { secret } } : {} };
    return { ...object, metadata: { ...object.metadata, namespace }, spec };
  };
  const backups = (status: 'True' | 'False', reason: string, message = '') => ({
    conditions: [{ ...condition('EtcdBackupReady', status, reason), message }],
  });
  const listed = async (items: readonly HostedControlPlaneObject[], view: View, output?: string): Promise<string[]> => {
    const client = { list: async (_: unknown, where: object) => ({ items: 'namespace' in where ? [] : items }) };
    const { session, printed } = testSession({
      client: client as unknown as KubernetesApi,
      namespace: 'platform',
      now: () => now,
    });
    const values = { store: 'etcd-backup', ...(output === undefined ? {} : { output }) };
    await list.prepare({ positionals: [], values })({ ...session, terminal: { ...session.terminal, ...view } });
    return printed;
  };
  const fleet = [
    user('team-b', 'prod', shared, backups('False', 'BackupSecretInvalid', 'not granted')),
    user('team-a', 'prod', shared, { etcdLastBackupTime: at(1), ...backups('True', 'Ready') }),
    user('platform', 'own', { name: 'etcd-backup' }),
    user('team-a', 'other-secret', { name: 'other', namespace: 'platform' }),
    user('team-a', 'other-namespace', { name: 'etcd-backup' }),
    user('team-a', 'none', undefined),
  ];

  it('has the clusters of all namespaces that use the Secret, with what is wrong', async () => {
    const lines = await listed(fleet, narrowView(200));
    const ends = lines.map((line) =>
      line.replace(/^(\S+) .*?( {3}(LAST BACKUP|never|failing \d+h|\d+h ago) .*)$/, '$1$2'),
    );
    expect(ends).toEqual([
      'CLUSTER   LAST BACKUP   BACKUPS',
      'platform/own   never         unknown',
      'team-a/prod   1h ago        ready',
      'team-b/prod   failing 1h    BackupSecretInvalid',
      '',
      '3 control planes, 3 not Ready',
      '',
      'Problems of backups:',
      '  team-b/prod: not granted',
    ]);
  });

  it('is painted by its meaning', async () => {
    const waits = user('a', 'waits', shared, backups('False', 'WaitingForOtherPhases', 'etcd comes first'));
    const text = (await listed([...fleet, waits], markedView)).join('\n');
    expect(text).toMatch(/^team-b\/prod .*<fails>BackupSecretInvalid<\/fails>$/m);
    expect(text).toMatch(/^a\/waits .*<waits>WaitingForOtherPhases<\/waits>$/m);
    expect(text).toMatch(/^team-a\/prod .*<ok>ready<\/ok>$/m);
    expect(text).toMatch(/^platform\/own .*<unknown>unknown<\/unknown>$/m);
  });

  it('gives programs the same clusters', async () => {
    expect(await listed(fleet, markedView, 'name')).toEqual(['team-b/prod', 'team-a/prod', 'platform/own']);
  });

  it('says of a Secret without users that it has none', async () => {
    expect(await listed([], narrowView(200))).toEqual([
      'no cluster stores its backups with Secret platform/etcd-backup',
    ]);
  });
});

it('nothing is said to be nothing', () => {
  expect(describeFleet([], { now, namespace: 'team' })).toEqual([
    'no control plane exists in namespace team: -A lists all',
  ]);
});

it('an entry names the condition that blocks, and not those that wait for it', () => {
  expect(overviewOf(controlPlane('lost', lost)).blocker).toEqual({
    type: 'EtcdClusterReady',
    state: 'waits',
    reason: 'QuorumLost',
    since: at(5),
    message: '',
  });
  expect(overviewOf(controlPlane('works', works)).blocker).toBeNull();
});

describe('hcp list', () => {
  const one = (name: string) => controlPlane(name);
  const printedBy = async (values: Record<string, string | boolean>, events: readonly object[] = []) => {
    const asked: object[] = [];
    const client = {
      async list(_: unknown, where: object) {
        asked.push(where);
        return { items: [one('first')], resourceVersion: '1' };
      },
      async *watch() {
        yield* events;
        throw new Error('the user has interrupted it');
      },
    };
    const { session, printed } = testSession({
      client: client as unknown as KubernetesApi,
      namespace: 'team-a',
      now: () => now,
    });
    const ended = list.prepare({ positionals: [], values })(session);
    return { printed, asked, ended };
  };

  it('selects by labels', async () => {
    const { asked, ended } = await printedBy({ selector: 'env=prod' });
    await ended;
    expect(asked).toEqual([expect.objectContaining({ namespace: 'team-a', labelSelector: 'env=prod' })]);
  });

  it('has neither a heading nor a count with --no-headers', async () => {
    const { printed, ended } = await printedBy({ 'no-headers': true });
    await ended;
    expect(printed).toEqual([expect.stringMatching(/^first /)]);
  });

  it('shows the fleet again after each change with --watch, and not when nothing changed', async () => {
    const event = (type: string, name: string) => ({ type, object: one(name) });
    const events = [
      event('MODIFIED', 'first'),
      event('ADDED', 'second'),
      event('BOOKMARK', 'first'),
      event('DELETED', 'first'),
    ];
    const { printed, ended } = await printedBy({ watch: true, output: 'name' }, events);
    await expect(ended).rejects.toThrow('interrupted');
    expect(printed).toEqual(['first', 'first', 'second', 'second']);
  });
});
