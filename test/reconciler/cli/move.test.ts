import { beforeEach, describe, expect, it } from 'vitest';
import { blockMoveAnnotation, clusterctlLabel, prepareMoveAnnotation } from '../../../constructs/api/group.ts';
import {
  Cluster,
  ConfigMap,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Secret,
} from '../../../constructs/api/resources.ts';
import type { ParsedArguments } from '../../../reconciler/cli/command.ts';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { move, readMoveRequest, abortProgress, prepareProgress } from '../../../reconciler/cli/move.ts';
import { moveAnnotation } from '../../../reconciler/run-state/move-record.ts';
import { commandSession } from '../../support/loop/command-session.ts';
import { MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { clusterName, hostedControlPlaneObject, namespace, now, spec } from '../../support/scope.ts';

const given = (positionals: readonly string[], wait = false): ParsedArguments => ({ positionals, values: { wait } });
const backup = { schedule: '@daily', secret: { name: 's3' }, encryption: { secretName: 'keys' } };
const user = { fieldManager: 'user' };

let management: MemoryCluster;
let told: string[];
beforeEach(async () => {
  management = new MemoryCluster(new ManualClock(now.getTime()));
  told = [];
  await management.install();
  await management.order({
    etcd: { replicas: 1, backup },
    deployment: {
      apiServer: { mounts: { policy: { path: '/etc/policy', configMap: { name: 'policy' } } } },
      defaults: { imagePullSecrets: [{ name: 'registry' }] },
    },
  });
});

function run(...positionals: readonly string[]): Promise<void> {
  const { session } = commandSession(management, move);
  const say = (line: string) => void told.push(line);
  return move.prepare(given(positionals))({ ...session, terminal: { ...session.terminal, print: say, info: say } });
}

const requestOf = ({ hostedControlPlane: { metadata } }: MemoryCluster) =>
  metadata.annotations?.[prepareMoveAnnotation];

describe('hcp move prepare', () => {
  it('labels what clusterctl can take along, and says what it cannot', async () => {
    for (const [{ apiVersion, kind }, name] of [
      [Secret, 's3'],
      [Secret, 'keys'],
      [ConfigMap, 'policy'],
    ] as const)
      await management.user.create({ apiVersion, kind, metadata: { name, namespace } }, user);
    await run('prepare', clusterName);
    const labelled = management.objects.objects.filter(
      ({ metadata }) => metadata.labels?.[`${clusterctlLabel}/move`] !== undefined,
    );
    expect(labelled.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      'ConfigMap policy',
      'Secret keys',
      'Secret s3',
    ]);
    expect(told).toContainEqual(expect.stringMatching(/^Secret team\/registry +does not exist$/));
    expect(requestOf(management)).toBe(now.toISOString());
  });

  it('knows what the component template of the control plane asks for, and refuses without that', async () => {
    await management.change({ componentTemplateRef: { name: 'shared' } });
    await expect(run('prepare', clusterName)).rejects.toThrow(
      /HostedControlPlaneComponentTemplate shared does not exist/,
    );
    expect(requestOf(management)).toBeUndefined();
    const { apiVersion, kind } = HostedControlPlaneComponentTemplate;
    const shared = { etcd: { imagePullSecrets: [{ name: 'of-the-template' }] } };
    await management.user.create({ apiVersion, kind, metadata: { name: 'shared', namespace }, spec: shared }, user);
    await run('prepare', clusterName);
    expect(told).toContainEqual(expect.stringMatching(/^Secret team\/of-the-template +does not exist$/));
  });

  it('leaves what is in another namespace, and names it', async () => {
    await management.change({ etcd: { backup: { secret: { name: 's3', namespace: 'platform' } } } });
    await run('prepare', clusterName);
    expect(told).toContainEqual(
      expect.stringMatching(/^Secret platform\/s3 +does not travel, because it is in another/),
    );
  });

  it('refuses a control plane without backups, whose data could not travel', async () => {
    await management.change({ etcd: { backup: null } });
    await expect(run('prepare', clusterName)).rejects.toThrow(/set spec\.etcd\.backup/);
    expect(requestOf(management)).toBeUndefined();
  });

  it.each(['prepare', 'abort'])('refuses to %s what is paused, because nobody would act', async (step) => {
    const place = { namespace, name: clusterName };
    await management.user.mergePatch(Cluster, place, { spec: { paused: true } }, user);
    await expect(run(step, clusterName)).rejects.toThrow(/is paused.*set spec\.paused of the Cluster to false/);
    expect(requestOf(management)).toBeUndefined();
  });
});

it('hcp move abort takes the request back', async () => {
  await run('prepare', clusterName);
  await run('abort', clusterName);
  expect(requestOf(management)).toBeUndefined();
  expect(management.objects.get(HostedControlPlane, ourName.name)).toBeDefined();
});

it.each([
  ['nothing', [], /hcp move prepare CLUSTER/],
  ['another step', ['start', 'c1'], /hcp move prepare CLUSTER/],
  ['no Cluster', ['prepare'], /one Cluster, not 0/],
  ['two Clusters', ['abort', 'c1', 'c2'], /one Cluster, not 2/],
])('a command line with %s is refused', (_, positionals, message) =>
  expect(() => readMoveRequest(given(positionals))).toThrow(message),
);

describe('the progress', () => {
  const condition = (type: string, status: 'True' | 'False', reason: string, message = '') => ({
    conditions: [{ type, status, reason, message, lastTransitionTime: now.toISOString() }],
  });
  const of = (status: object, annotations: Record<string, string> = {}) => {
    const object = hostedControlPlaneObject({ spec, status });
    const { metadata } = object;
    return readControlPlane({
      ...object,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    });
  };
  const waiting = of(
    condition('NoMovePending', 'False', 'TakingBackup', 'a backup is due; to serve here again, run x'),
  );
  const { uid = '' } = waiting.object.metadata;
  const record = moveAnnotation({ uid, backup: '2026-11-25T09-00-00.000Z-42' });

  it.each([
    ['runs until the operator acts', of({}), { kind: 'running', message: 'waiting for the operator' }],
    ['tells each step', waiting, { kind: 'running', message: 'TakingBackup: a backup is due' }],
    [
      'ends with a refusal',
      of(condition('NoMovePending', 'False', 'MoveRefused', 'no bucket')),
      { kind: 'failed', message: 'no bucket' },
    ],
    [
      'goes on while clusterctl is blocked',
      of({}, { ...record, [blockMoveAnnotation]: 'etcd' }),
      { kind: 'running', message: 'waiting for the operator' },
    ],
  ])('of a preparation %s', (_, controlPlane, progress) => expect(prepareProgress(controlPlane)).toEqual(progress));

  it('of a preparation ends with what to do next', () => {
    const progress = prepareProgress(of({}, record));
    expect(progress.kind).toBe('done');
    expect(progress.message).toMatch(/backup 2026-11-25T09-00-00\.000Z-42 holds all data\. Now run clusterctl move/);
  });

  it.each([
    ['waits for the claim', of(condition('NoMovePending', 'False', 'ClaimingData', 'x')), 'running'],
    ['fails when another one serves', of(condition('NoMovePending', 'False', 'MovedAway', 'x')), 'failed'],
    ['waits for API servers', of(condition('Available', 'False', 'NotReady', 'x')), 'running'],
    ['ends when they serve', of(condition('Available', 'True', 'Available')), 'done'],
  ])('of a return %s', (_, controlPlane, kind) => expect(abortProgress(controlPlane).kind).toBe(kind));
});
