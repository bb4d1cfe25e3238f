import { expect, it } from 'vitest';
import type { MachineObject, MachinePoolObject } from '../../../../imports/cluster-api.ts';
import { describeWorkers, workersOf } from '../../../../reconciler/cli/status/workers.ts';

const machine = (name: string, isReady: boolean, runs?: string): MachineObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Machine',
  metadata: { namespace: 'team', name },
  spec: { version: 'v1.37.1' },
  status: {
    conditions: [{ type: 'NodeReady', status: isReady ? 'True' : 'False' }],
    ...(runs === undefined ? {} : { nodeInfo: { kubeletVersion: runs } }),
  },
});

it.each<[string, MachineObject[]]>([
  ['no Machines; Nodes that joined without one are not counted', []],
  ['1 Machine with v1.37.1', [machine('a', true)]],
  ['2 Machines with v1.37.1, 1 not ready: b', [machine('a', true), machine('b', false)]],
  [
    '3 Machines (1 with v1.36.4, 2 with v1.37.1)',
    [machine('a', true), machine('b', true, 'v1.36.4'), machine('c', true, 'v1.37.1')],
  ],
  [
    '5 Machines with v1.37.1, 5 not ready: a, b, c, 2 more',
    ['a', 'b', 'c', 'd', 'e'].map((name) => machine(name, false)),
  ],
])('workers are %s', (text, machines) => {
  expect(describeWorkers(workersOf(machines))).toBe(text);
});

it('a Machine that has reported nothing yet is not ready, and has the version that it shall get', () => {
  const { status: _, ...fresh } = machine('new', true);
  expect(workersOf([fresh])).toEqual({
    total: 1,
    notReady: ['new'],
    versions: [{ version: 'v1.37.1', count: 1 }],
    pools: [],
  });
});

const pool = (name: string, status?: MachinePoolObject['status']): MachinePoolObject => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachinePool',
  metadata: { namespace: 'team', name },
  spec: { replicas: 3, template: { spec: { version: 'v1.37.1' } } },
  ...(status && { status }),
});

it('workers of MachinePools are counted, those that are Machines once', () => {
  const made = { ...machine('mp-1-x', true) };
  const labelled = { ...made, metadata: { ...made.metadata, labels: { 'cluster.x-k8s.io/pool-name': 'mp-1' } } };
  const pools = [pool('mp-0', { replicas: 2, readyReplicas: 1 }), pool('mp-1', { replicas: 1 }), pool('mp-2')];
  expect(describeWorkers(workersOf([labelled], pools))).toBe(
    '1 Machine with v1.37.1; MachinePool mp-0 with v1.37.1, 1 of 2 ready; MachinePool mp-2 with v1.37.1, 0 of 3 ready',
  );
  expect(describeWorkers(workersOf([], [pool('mp-0', { replicas: 1, readyReplicas: 1 })]))).toBe(
    'MachinePool mp-0 with v1.37.1, 1 of 1 ready',
  );
});
