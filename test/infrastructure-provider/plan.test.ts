import { describe, expect, it } from 'vitest';
import { isPaused, isProvisioned, type MachineFacts, machineStep, poolMachines } from './plan.ts';

const wanted = { clusterName: 'c1', version: 'v1.37.1', bootstrap: { dataSecretName: 'data' } };
const due: MachineFacts = {
  isDeleted: false,
  isPaused: false,
  isClusterProvisioned: true,
  wanted,
  host: 'absent',
  isReported: false,
};

describe('a machine of the testbed as infrastructure', () => {
  it('boots with its bootstrap data once its cluster is there, and again if its first boot was interrupted', () => {
    const boot = { kind: 'boot', dataSecretName: 'data', version: 'v1.37.1' };
    expect(machineStep(due)).toEqual(boot);
    expect(machineStep({ ...due, host: 'unfinished' })).toEqual(boot);
  });

  it.each<[waitsFor: string, facts: Partial<MachineFacts>]>([
    ['its owner', { wanted: undefined }],
    ['the infrastructure of its cluster', { isClusterProvisioned: false }],
    ['bootstrap data', { wanted: { ...wanted, bootstrap: {} } }],
  ])('waits for %s', (waitsFor, facts) => {
    expect(machineStep({ ...due, ...facts })).toEqual({ kind: 'wait', for: waitsFor });
  });

  it('stays as it is once it has joined, and while it is paused, whatever else is asked', () => {
    expect(machineStep({ ...due, host: 'joined', isReported: true })).toEqual({ kind: 'none' });
    expect(machineStep({ ...due, isPaused: true })).toEqual({ kind: 'none' });
    expect(machineStep({ ...due, isPaused: true, isDeleted: true })).toEqual({ kind: 'none' });
  });

  it('is reported again when a move has left its status behind', () => {
    expect(machineStep({ ...due, host: 'joined' })).toEqual({ kind: 'report' });
  });

  it('is removed with its object, whatever state it is in', () => {
    for (const host of ['absent', 'joined', 'unfinished'] as const) {
      expect(machineStep({ ...due, isDeleted: true, host })).toEqual({ kind: 'remove' });
    }
  });
});

it('a pool that shrinks loses its last machines', () => {
  expect(poolMachines('p', 3).slice(0, 2)).toEqual(poolMachines('p', 2));
});

it('a pause is that of the Cluster, or an annotation', () => {
  const object = { apiVersion: 'v1', kind: 'Any', metadata: { name: 'a' } };
  const annotated = { ...object, metadata: { name: 'a', annotations: { 'cluster.x-k8s.io/paused': '' } } };
  expect([
    isPaused(object, undefined),
    isPaused(object, { ...object, spec: { paused: true } }),
    isPaused(annotated, object),
  ]).toEqual([false, true, true]);
});

it('the infrastructure of a cluster waits for the endpoint that the control plane provider names', () => {
  const object = { apiVersion: 'v1', kind: 'Any', metadata: { name: 'a' } };
  expect(isProvisioned({ ...object, spec: { controlPlaneEndpoint: { host: '' } } })).toBe(false);
  expect(isProvisioned({ ...object, spec: { controlPlaneEndpoint: { host: 'a.example' } } })).toBe(true);
});
