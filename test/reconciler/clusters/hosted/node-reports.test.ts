import { expect, it } from 'vitest';
import { keptReport } from '../../../../reconciler/clusters/hosted/kept-objects.ts';
import { NodeReports } from '../../../../reconciler/clusters/hosted/node-reports.ts';

const minute = 60_000;
const node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', resourceVersion: '1', managedFields: [{ manager: 'kubelet' }] },
  status: {
    addresses: [{ type: 'InternalIP', address: '192.0.2.21' }],
    conditions: [{ type: 'DiskPressure' }, { type: 'Ready', lastHeartbeatTime: '2026-11-21T12:00:10Z' }],
  },
};

it('a report has the time of the condition Ready, and nothing else of the status is held', async () => {
  const young = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n2', resourceVersion: '1' } };
  const kept = [node, young].map(keptReport);
  const reports = new NodeReports(async () => kept, { now: () => 0 } as never);
  expect(await reports.all()).toEqual([
    { name: 'n1', at: new Date('2026-11-21T12:00:10Z') },
    { name: 'n2', at: undefined },
  ]);
  expect(kept[0]).toMatchObject({ status: { conditions: [{ type: 'Ready' }] } });
  expect(JSON.stringify(kept)).not.toMatch(/DiskPressure|192\.0\.2\.21|managedFields/);
});

it('Nodes are listed once in five minutes, however often a reconcile asks', async () => {
  let [now, lists] = [0, 0];
  const reports = new NodeReports(
    async () => {
      lists += 1;
      return [];
    },
    { now: () => now } as never,
  );
  for (now = 0; now < 5 * minute; now += minute) await reports.all();
  expect(lists).toBe(1);
  await reports.all();
  expect(lists).toBe(2);
});
