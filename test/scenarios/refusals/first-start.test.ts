import { describe, expect, it } from 'vitest';
import { Deployment, Pod, StatefulSet } from '../../../constructs/api/resources.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { orderedCluster, smallestSpec } from '../../support/loop/scenario.ts';

const textOf = ({ objects }: MemoryCluster, kind: typeof Pod, name: string) => JSON.stringify(objects.get(kind, name));
const imageOf = (cluster: MemoryCluster, component: 'etcd' | 'api-server') =>
  component === 'etcd'
    ? /\/etcd:([^"]*)"/.exec(textOf(cluster, StatefulSet, 'c1-etcd'))?.[1]
    : /kube-apiserver:([^"]*)"/.exec(textOf(cluster, Deployment, 'c1-api-server'))?.[1];

function conditionOf({ conditions }: MemoryCluster, type: string): string {
  const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
}

interface Day {
  readonly spec?: object;
  /** Text in the template of pods that do not start. */
  readonly startsNot: string;
  readonly correction: object;
  readonly etcd: string;
  readonly servers: string;
}

const backup = { schedule: '@daily', secret: { name: 's3' }, beforeUpgrade: true };

describe('what is wrong on the first day is corrected by correcting the spec', () => {
  it.each<[string, Day]>([
    [
      'a version of Kubernetes whose etcd cannot be pulled, by one minor up',
      { startsNot: 'etcd:3.6', correction: { version: 'v1.37.1' }, etcd: '3.7.0-0', servers: 'v1.37.1' },
    ],
    [
      'a version of Kubernetes whose etcd cannot be pulled, by one minor down',
      {
        spec: { version: 'v1.37.1' },
        startsNot: 'etcd:3.7',
        correction: { version: 'v1.36.3' },
        etcd: '3.6.8-0',
        servers: 'v1.36.3',
      },
    ],
    [
      'a tag of etcd that no registry has, by an earlier minor',
      {
        spec: { etcd: { replicas: 1, image: { tag: '3.8.9-none' } } },
        startsNot: '3.8.9-none',
        correction: { etcd: { image: { tag: '3.6.16-0' } } },
        etcd: '3.6.16-0',
        servers: 'v1.36.3',
      },
    ],
    [
      'a version of etcd that cannot be pulled, by a later minor',
      {
        spec: { etcd: { replicas: 1, version: '3.5.9' } },
        startsNot: 'etcd:3.5.9',
        correction: { etcd: { version: '3.6.11' } },
        etcd: '3.6.11-0',
        servers: 'v1.36.3',
      },
    ],
    [
      'a version of etcd that cannot be pulled, of three members whose upgrades wait for backups',
      {
        spec: { etcd: { replicas: 3, version: '3.5.9', backup } },
        startsNot: 'etcd:3.5.9',
        correction: { etcd: { version: '3.6.11' } },
        etcd: '3.6.11-0',
        servers: 'v1.36.3',
      },
    ],
    [
      'a registry that nothing can be pulled from',
      {
        spec: { imageRegistry: 'mirror.example.org' },
        startsNot: 'mirror.example.org/etcd',
        correction: { imageRegistry: null, version: 'v1.37.1' },
        etcd: '3.7.0-0',
        servers: 'v1.37.1',
      },
    ],
  ])('%s', async (_, { spec, startsNot, correction, etcd, servers }) => {
    const cluster = await orderedCluster({ ...smallestSpec, ...spec });
    cluster.startsNot = startsNot;
    const operator = await OperatorProcess.start(cluster);
    await operator.rounds(8);
    expect(conditionOf(cluster, 'EtcdClusterReady')).toMatch(/^False .*no such tag/);
    await cluster.change(correction);
    await operator.reconcileUntil('Available', () => conditionOf(cluster, 'Available').startsWith('True'), 10_000);
    expect([imageOf(cluster, 'etcd'), imageOf(cluster, 'api-server')]).toEqual([etcd, servers]);
    expect(conditionOf(cluster, 'EtcdClusterReady')).toMatch(/^True/);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  });

  it.each([
    ['v1.36.3', 'v1.37.1', false],
    ['v1.37.1', 'v1.36.3', false],
    ['v1.36.3', 'v1.37.1', true],
  ])(
    'an API server %s that cannot be pulled, by %s, although its etcd has formed (backups before upgrades: %s)',
    async (version, corrected, beforeUpgrade) => {
      const etcd = { replicas: 1, version: '3.6.16', ...(beforeUpgrade ? { backup } : {}) };
      const cluster = await orderedCluster({ ...smallestSpec, version, etcd });
      cluster.startsNot = `kube-apiserver:${version}`;
      cluster.etcd.revision = 1;
      const operator = await OperatorProcess.start(cluster);
      await operator.rounds(8);
      expect(conditionOf(cluster, 'APIServerDeploymentsReady')).toMatch(/no such tag/);
      await cluster.change({ version: corrected });
      await operator.reconcileUntil('Available', () => conditionOf(cluster, 'Available').startsWith('True'), 10_000);
      expect(imageOf(cluster, 'api-server')).toBe(corrected);
      expect(cluster.hostedControlPlane).toMatchObject({ status: { version: corrected } });
      expect(operator.errors).toEqual([]);
      await operator.stop();
    },
  );
});

it('an etcd with data whose object has lost its status is none that never lived, and keeps its minor', async () => {
  const cluster = await orderedCluster({ ...smallestSpec, etcd: { replicas: 1, version: '3.6.16' } });
  const operator = await OperatorProcess.start(cluster);
  await operator.untilSettled();
  await operator.stop();
  cluster.startsNot = ':';
  for (const name of ['c1-etcd-0', 'c1-api-server-0']) cluster.objects.remove(cluster.objects.get(Pod, name)!);
  const { hostedControlPlane: present } = cluster;
  const spec = { ...(present['spec'] as object), etcd: { replicas: 1, version: '3.5.26' } };
  cluster.objects.put({ ...present, spec, status: {} });
  const next = await OperatorProcess.start(cluster);
  await next.rounds(6);
  expect(imageOf(cluster, 'etcd')).toBe('3.6.16-0');
  expect(conditionOf(cluster, 'EtcdClusterReady')).toMatch(/which cannot read its data/);
  await next.stop();
});
