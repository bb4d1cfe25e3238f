import { expect, it } from 'vitest';
import { componentLabel } from '../../../constructs/cluster/labels.ts';
import type { PodInState } from '../../support/pod-states.ts';
import { type Milestones, PodMilestones, waitFigures } from './pod-milestones.ts';

function pod(component: string, name: string, isReady: boolean, restartCount = 0): PodInState {
  const state = { running: {} };
  const container = { name: component, image: '', imageID: '', ready: isReady, restartCount, state };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n', labels: { [componentLabel]: component } },
    status: {
      containerStatuses: [container],
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

it('the first time of each pod counts, and the later one of both controllers', () => {
  const pods = new PodMilestones();
  const seen: readonly [ms: number, pod: PodInState][] = [
    [1_000, pod('etcd', 'etcd-0', false)],
    [1_500, pod('etcd', 'etcd-0', true)],
    [4_000, pod('api-server', 'a', true)],
    [5_000, pod('api-server', 'b', true)],
    [6_000, pod('api-server', 'a', true, 2)],
    [7_000, pod('scheduler', 's', true)],
    [8_000, pod('controller-manager', 'm', true)],
    [9_000, pod('scheduler', 's', true)],
  ];
  for (const [ms, one] of seen) pods.see(one, ms);
  expect(pods.reached()).toEqual({
    etcdRuns: 1_000,
    apiServersReady: [4_000, 5_000],
    controllersReady: 8_000,
    restarts: 2,
  });
});

it('what was not seen is no figure', () => {
  const { etcdRuns, controllersReady } = new PodMilestones().reached();
  expect([etcdRuns, controllersReady]).toEqual([Number.NaN, Number.NaN]);
});

it.each<[what: string, apiServersReady: readonly number[], waits: readonly number[]]>([
  ['one API server', [4_000], [1, 1, 2, 3]],
  ['two', [4_000, 4_500], [1, 1, 2, 0.5, 3]],
])('waits follow each other: %s', (_what, apiServersReady, waits) => {
  const run: Milestones = { ownerNamed: 1_000, etcdRuns: 2_000, apiServersReady, controllersReady: 7_000, restarts: 0 };
  const figures = waitFigures('shape', [
    run,
    run,
    {
      ...run,
      ownerNamed: 0,
      etcdRuns: 1_000,
      apiServersReady: apiServersReady.map((ms) => ms - 1_000),
      controllersReady: 6_000,
    },
  ]);
  expect(figures.filter(({ name }) => name.includes('wait ')).map(({ value }) => value)).toEqual(waits);
});
