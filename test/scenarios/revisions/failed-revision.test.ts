import { beforeAll, describe, expect, it } from 'vitest';
import { ConfigMap, Deployment } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { completeCluster, everyCrash, expectSameAfter, settleBy, settleForGood } from '../../support/loop/scenario.ts';
import { Life } from '../../support/loop/life.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { missingTag } from '../../support/management-controllers.ts';
import { clusterName } from '../../support/scope.ts';

const missing = { image: { tag: missingTag } };

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

/** A control plane after this change, when the operator has nothing left to do. */
async function after(...changes: readonly object[]): Promise<MemoryCluster> {
  const management = complete.copy();
  for (const change of changes) {
    await management.change(change);
    await settleBy(management);
  }
  return management;
}

const recordsOf = ({ objects }: MemoryCluster) =>
  objects.list(ConfigMap, objectLabels(clusterName, 'revision')).map(({ metadata }) => metadata.name);

function conditionOf({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

const imageOf = ({ objects }: MemoryCluster, component: string) =>
  /registry[^"]*:([^"]*)"/.exec(JSON.stringify(objects.get(Deployment, `c1-${component}`)))?.[1];

describe('a spec by which a component does not become ready in time', () => {
  it.each(['apiServer', 'controllerManager', 'scheduler'])(
    'is taken back completely when that is the %s',
    async (component) => {
      const management = await after({ replicas: 3, deployment: { [component]: missing } });
      const images = ['api-server', 'controller-manager', 'scheduler'].map((name) => imageOf(management, name));
      expect(images).toEqual(['v1.36.3', 'v1.36.3', 'v1.36.3']);
      expect(management.objects.get(Deployment, 'c1-api-server')).toMatchObject({ spec: { replicas: 2 } });
      expect(conditionOf(management, 'SpecAccepted')).toMatch(
        /^False RevisionFailed: .*without progress for too long; .*no such tag.*generation 1$/,
      );
      expect(conditionOf(management, 'Available')).toMatch(/^True/);
      expect(conditionOf(management, 'Ready')).toMatch(/^False RevisionFailed/);
      expect(recordsOf(management)).toEqual(['c1-revision-1', 'c1-revision-2']);
    },
  );

  it('is not tried again by a new operator, and nothing is written', async () => {
    const management = await after({ deployment: { apiServer: missing } });
    await settleForGood(management);
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
  });

  it('is taken back too by an operator that crashes at any moment', async () => {
    const management = complete.copy();
    await management.change({ deployment: { apiServer: missing } });
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(5);
    await expectSameAfter(crashes, management);
  });

  it('is followed by the corrected one, whose record is the only one that stays', async () => {
    const management = await after({ deployment: { apiServer: missing } }, { replicas: 3, deployment: null });
    expect(management.objects.get(Deployment, 'c1-api-server')).toMatchObject({ spec: { replicas: 3 } });
    expect(conditionOf(management, 'Ready')).toMatch(/^True/);
    expect(recordsOf(management)).toEqual(['c1-revision-3']);
  });

  it('is tried again with another rollout.after, and taken back again', async () => {
    const rollout = { after: '2026-11-20T00:00:00Z' };
    const management = await after({ deployment: { apiServer: missing } }, { rollout });
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
    expect(recordsOf(management)).toEqual(['c1-revision-1', 'c1-revision-3']);
  });

  it('is taken back while another part of the reconcile fails', async () => {
    const management = complete.copy();
    const before = (action: string) => {
      if (/NetworkPolicy/.test(action)) throw new Error('the network policies are refused');
    };
    const operator = await OperatorProcess.start(management, new Life({ before }));
    await management.change({ deployment: { apiServer: missing }, networkPolicy: 'Disabled' });
    await operator.rounds(12);
    await operator.stop();
    expect(String(operator.errors.at(-1))).toContain('the network policies are refused');
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^False RevisionFailed/);
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
  });

  it('gives way to a refused one: the last that served stays', async () => {
    const management = await after({ deployment: { apiServer: missing } }, { version: 'v1.31.0' });
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^False InvalidConfiguration: .*generation 1$/);
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
  });
});

describe('an upgrade to a minor version', () => {
  it('is taken back while an old API server serves, and says how a topology is corrected', async () => {
    const management = await after({ version: 'v1.37.1', deployment: { apiServer: missing } });
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
    expect(management.hostedControlPlane).toMatchObject({ status: { version: 'v1.36.3' } });
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/disable-update-version-check/);
  });

  it('is taken back while binaries of the new minor emulate the old one', async () => {
    const management = await after({ version: 'v1.37.1', deployment: { scheduler: missing } });
    const images = ['api-server', 'controller-manager', 'scheduler'].map((name) => imageOf(management, name));
    expect(images).toEqual(['v1.36.3', 'v1.36.3', 'v1.36.3']);
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^False RevisionFailed/);
  });

  it('is taken back before the new API servers when what changes with it fails already', async () => {
    const upgrade = { hold: '0s' };
    const management = await after({ version: 'v1.37.1', upgrade, deployment: { scheduler: missing } });
    expect(imageOf(management, 'api-server')).toBe('v1.36.3');
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^False RevisionFailed/);
  });

  it('is not taken back when no old API server is left, because only a backup leads back from there', async () => {
    const upgrade = { hold: '0s' };
    const management = complete.copy();
    management.startsNot = 'kube-scheduler:v1.37.1';
    await management.change({ version: 'v1.37.1', upgrade });
    await settleBy(management);
    expect(imageOf(management, 'api-server')).toBe('v1.37.1');
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^True/);
    expect(conditionOf(management, 'SchedulerReady')).toMatch(/no such tag/);
  });
});

it('an upgrade to a patch release that is taken back says how a topology is corrected, and another change does not', async () => {
  const patch = await after({ version: 'v1.36.4', deployment: { apiServer: missing } });
  expect(imageOf(patch, 'api-server')).toBe('v1.36.3');
  expect(conditionOf(patch, 'SpecAccepted')).toMatch(/disable-update-version-check/);
  const image = await after({ deployment: { apiServer: missing } });
  expect(conditionOf(image, 'SpecAccepted')).not.toMatch(/disable-update-version-check/);
});

it('the first spec of a control plane has none before it: it stays, and the condition says why it does not work', async () => {
  const management = await completeCluster({ deployment: { scheduler: missing } });
  expect(imageOf(management, 'scheduler')).toBe(missingTag);
  expect(conditionOf(management, 'SchedulerReady')).toMatch(/no such tag/);
});
