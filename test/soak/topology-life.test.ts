import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  Cluster,
  Deployment,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  MachineSet,
  StatefulSet,
} from '../../constructs/api/resources.ts';
import { TestbedMachineTemplate } from '../infrastructure-provider/kinds.ts';
import { type Life, live } from '../life/life.ts';
import { ownTestbed } from '../support/own-testbed.ts';

const instance = ownTestbed('life');
let directory: string;
let life: Life;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'life-'));
  life = await live(instance, directory, (line) => console.log(line));
}, 1_800_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a Cluster with a topology lives from create over scale, upgrade, change of class and move to its deletion', () => {
  for (const { what, seconds } of life.steps) console.log(`| ${what} | ${seconds.toFixed(0)} s |`);
  expect(life.steps.map(({ what }) => what.split(/[: ]/)[0])).toEqual([
    'a',
    'create',
    'five',
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

test('nothing that belongs to it gets another generation in five idle minutes', () => {
  const kinds = new Set([...life.idle.before.keys()].map((object) => object.split(' ')[0]));
  for (const { kind } of [
    Cluster,
    HostedControlPlane,
    MachineDeployment,
    MachineSet,
    Machine,
    StatefulSet,
    Deployment,
  ]) {
    expect(kinds).toContain(kind);
  }
  expect(kinds).toContain(TestbedMachineTemplate.kind);
  expect(Object.fromEntries(life.idle.after)).toEqual(Object.fromEntries(life.idle.before));
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
