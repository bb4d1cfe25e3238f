import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Moved, runMove } from '../move/move.ts';
import { recordFault } from '../support/fault-table.ts';
import { ownTestbed } from '../support/own-testbed.ts';

const instance = ownTestbed('move');
let directory: string;
let moved: Moved;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'move-'));
  moved = await runMove(instance, directory, (line) => console.log(line));
}, 900_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

test('clusterctl waits for the preparation of a control plane, and copies nothing before', () => {
  expect(moved.unprepared.said).toMatch(/Move blocked by .*HostedControlPlane|HostedControlPlane.*Move blocked by/s);
  expect(moved.unprepared.clusters).toEqual([]);
});

test('clusterctl saves a prepared control plane, whose API servers stay stopped where they were', async () => {
  expect(await readdir(directory)).toEqual(
    expect.arrayContaining([expect.stringMatching(/HostedControlPlane/), expect.stringMatching(/Secret.*backup-keys/)]),
  );
  expect(moved.left.condition).toBe('PreparedForMove');
  expect(moved.left.pods.filter((pod) => pod.includes('api-server'))).toEqual([]);
});

test('the other management cluster serves the same endpoint, CA and data', () => {
  expect(moved.after.endpoint).toEqual(moved.before.endpoint);
  expect(moved.after.sealed).toBe(moved.before.sealed);
  expect(moved.writes.acknowledged).toBeGreaterThan(20);
  expect(moved.writes.lost).toEqual([]);
  expect(moved.writes.lostSince).toEqual([]);
});

test('the worker goes on: the same kubelet with the same credentials, the same containers, pods that answer', () => {
  const { before, after } = moved;
  expect(after.worker.kubelet).toBe(before.worker.kubelet);
  expect(after.worker.credentials).toBe(before.worker.credentials);
  expect(after.worker.containers).toEqual(expect.arrayContaining([...before.worker.containers]));
  expect(after.pages).toEqual(before.pages);
});

test('the move is recorded with its outage', async () => {
  const { prepare, save, restore } = moved.seconds;
  expect([...moved.writes.lost, ...moved.writes.lostSince]).toEqual([]);
  console.log(`seconds: ${JSON.stringify(moved.seconds)}`);
  await recordFault({
    fault: 'a control plane moves to another management cluster: hcp move prepare, clusterctl move',
    observed:
      'the API is unreachable while the data travel in a verified backup; the endpoint, CAs and credentials are the same, the kubelet and containers run on',
    recoverySeconds: prepare + save + restore,
    dataLost: 'none',
  });
});
