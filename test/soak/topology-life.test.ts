import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Life, live } from '../life/life.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { takeDown } from '../testbed/take-down.ts';

// a testbed of its own, because its management cluster is replaced
const instance = instanceFrom(process.env, `${inject('testbed').slice(0, 5)}life`);
let directory: string;
let life: Life;

beforeAll(async () => {
  // left by an earlier run that was killed
  await takeDown(instance, () => {});
  directory = await mkdtemp(join(tmpdir(), 'life-'));
  life = await live(instance, directory, (line) => console.log(line));
}, 1_800_000);
afterAll(async () => {
  const left = await takeDown(instance, () => {});
  await rm(directory, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`testbed ${instance.name} left behind:\n${left.join('\n')}`);
});

test('a Cluster with a topology lives from create over scale, upgrade, change of class and move to its deletion', () => {
  for (const { what, seconds } of life.steps) console.log(`| ${what} | ${seconds.toFixed(0)} s |`);
  expect(life.steps.map(({ what }) => what.split(/[: ]/)[0])).toEqual([
    'a',
    'create',
    'scale',
    'upgrade',
    'change',
    'hcp',
    'clusterctl',
    'scale',
    'topology.controlPlane.replicas',
    'deletion',
  ]);
});

test('workers follow the control plane in an upgrade, and no Machine is ever of a later minor', () => {
  expect(life.pairs).toEqual([
    'API server v1.36.4, Machine v1.36.4',
    'API server v1.37.1, Machine v1.36.4',
    'API server v1.37.1, Machine v1.37.1',
  ]);
});

test('a change of class replaces the machines that it concerns, and no pod of the control plane', () => {
  expect(life.rebased.before.length).toBeGreaterThan(0);
  expect(life.rebased.after).toEqual(life.rebased.before);
});

test('a number of API servers that an autoscaler sets stays, as long as the topology names none', () => {
  expect(life.autoscaled).toBe(3);
});

test('a move keeps every Machine, its Node and its machine, and every acknowledged write', () => {
  expect(life.moved.before).toHaveLength(3);
  expect(life.moved.after).toEqual(life.moved.before);
  expect(life.writes.acknowledged).toBeGreaterThan(100);
  expect(life.writes.lost).toEqual([]);
});

test('its deletion takes its machines with it', () => {
  expect(life.left).toEqual([]);
});
