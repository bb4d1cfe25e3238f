import { beforeAll, describe, expect, it } from 'vitest';
import {
  Deployment,
  HostedControlPlaneComponentTemplate,
  type Resource,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { completeCluster, orderedCluster, settleBy, settleForGood, someRounds } from '../../support/loop/scenario.ts';
import { Life } from '../../support/loop/life.ts';
import { namespace } from '../../support/scope.ts';

const { apiVersion, kind } = HostedControlPlaneComponentTemplate;
const somebody = { fieldManager: 'somebody' };
const refersTo = (name: string) => ({ componentTemplateRef: { name } });

async function createTemplate({ user }: MemoryCluster, name: string, spec: object): Promise<void> {
  await user.create({ apiVersion, kind, metadata: { namespace, name }, spec } as KubeObject, somebody);
}

const workloads: readonly (readonly [Resource, string])[] = [
  [StatefulSet, 'c1-etcd'],
  [Deployment, 'c1-api-server'],
  [Deployment, 'c1-controller-manager'],
  [Deployment, 'c1-scheduler'],
];

/** The pod templates of all components, as text. */
const podTemplates = ({ objects }: MemoryCluster): Record<string, string> =>
  Object.fromEntries(
    workloads.map(([resource, name]) => {
      const found = objects.get<KubeObject & { spec?: { template?: unknown } }>(resource, name);
      return [name, JSON.stringify(found?.spec?.template)];
    }),
  );

function changedBetween(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(before).filter((name) => before[name] !== after[name]);
}

function conditionOf({ conditions }: MemoryCluster, type: string): string {
  const found = conditions.find((condition) => condition.type === type);
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

const settings = (value: string) => ({
  deployment: { scheduler: { args: { v: value } } },
  etcd: { resources: { requests: { cpu: '300m' } } },
});

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

describe('a HostedControlPlane that refers to a component template', () => {
  it('waits for it, and comes up with its settings when somebody creates it', async () => {
    const management = await orderedCluster(refersTo('shared'));
    await someRounds(management, new Life());
    expect(conditionOf(management, 'Ready')).toBe(
      'False InvalidConfiguration: spec.componentTemplateRef: HostedControlPlaneComponentTemplate shared does not exist: create it, or name another one',
    );
    expect(podTemplates(management)['c1-etcd']).toBeUndefined();
    await createTemplate(management, 'shared', settings('4'));
    await settleForGood(management);
    expect(conditionOf(management, 'Ready')).toBe('True Ready: ');
    expect(podTemplates(management)).toMatchObject({
      'c1-scheduler': expect.stringContaining('--v=4'),
      'c1-etcd': expect.stringContaining('"cpu":"300m"'),
    });
    expect(management.hostedControlPlane).toMatchObject({ status: { componentTemplate: 'shared' } });
  });

  it('restarts exactly the components for which another one differs', async () => {
    const management = complete.copy();
    await createTemplate(management, 'one', settings('4'));
    await createTemplate(management, 'two', settings('6'));
    const before = podTemplates(management);
    await management.change(refersTo('one'));
    await settleBy(management);
    const byOne = podTemplates(management);
    expect(changedBetween(before, byOne)).toEqual(['c1-etcd', 'c1-scheduler']);
    await management.change(refersTo('two'));
    await settleForGood(management);
    expect(changedBetween(byOne, podTemplates(management))).toEqual(['c1-scheduler']);
    await management.change({ componentTemplateRef: null });
    await settleForGood(management);
    expect(podTemplates(management)).toEqual(before);
    expect(management.hostedControlPlane).not.toHaveProperty('status.componentTemplate');
  });

  it('keeps its settings when it is gone, and says so', async () => {
    const management = complete.copy();
    await createTemplate(management, 'shared', settings('4'));
    await management.change(refersTo('shared'));
    await settleBy(management);
    const before = podTemplates(management);
    await management.user.delete(HostedControlPlaneComponentTemplate, { namespace, name: 'shared' });
    await settleForGood(management);
    expect(conditionOf(management, 'SpecAccepted')).toMatch(/^False InvalidConfiguration: .*shared does not exist/);
    expect(conditionOf(management, 'Available')).toMatch(/^True/);
    expect(podTemplates(management)).toEqual(before);
  });

  it('is deleted whether or not it exists', async () => {
    const management = complete.copy();
    await management.change(refersTo('missing'));
    const { metadata, apiVersion: version, kind: ofKind } = management.hostedControlPlane;
    await management.user.delete(
      { apiVersion: version, kind: ofKind, plural: 'hostedcontrolplanes', namespaced: true },
      {
        namespace,
        name: metadata.name,
      },
    );
    await settleBy(management);
    expect(podTemplates(management)['c1-etcd']).toBeUndefined();
  });
});
