import { describe, expect, it } from 'vitest';
import { Deployment, type Resource, StatefulSet } from '../../../constructs/api/resources.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import type { AdmissionStep } from '../../support/memory-cluster/admission/admission.ts';
import type { AnyFields } from '../../support/memory-cluster/api-server.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites } from '../../support/loop/scenario.ts';
import { namespace } from '../../support/scope.ts';

const complete = await completeCluster();
const others = { fieldManager: 'somebody-else', force: true };

interface Workload extends StoredObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly object[] } } };
}

/** Others apply fields of a pod template while an operator runs. Resolves when that has nothing left to do. */
async function applied({ apiVersion, kind }: Resource, name: string, template: object) {
  const managementCluster = complete.copy();
  const operator = await OperatorProcess.start(managementCluster);
  await operator.untilSettled();
  const { length } = managementCluster.management.writes;
  await managementCluster.user.apply({ apiVersion, kind, metadata: { namespace, name }, spec: { template } }, others);
  await operator.untilSettled();
  const writes = managementCluster.management.writes.slice(length + 1);
  await expectNoWrites(managementCluster, operator);
  await operator.stop();
  const workload = (cluster: typeof complete) =>
    cluster.objects.list<Workload>({ kind } as Resource, {}).find(({ metadata }) => metadata.name === name)!;
  return { after: workload(managementCluster), before: workload(complete), writes };
}

/** A policy that gives the pods of the API server other images when some field managers write. */
function rewriting(matches: (manager: string | undefined) => boolean): AdmissionStep {
  return ({ resource, object, fieldManager }) => {
    if (resource.kind !== Deployment.kind || object.metadata.name !== 'c1-api-server' || !matches(fieldManager))
      return object;
    const { spec } = object as AnyFields & Workload;
    const containers = spec.template.spec.containers.map((one) => ({ ...one, image: 'mirror.example.org/other:1' }));
    return {
      ...object,
      spec: { ...spec, template: { ...spec.template, spec: { ...spec.template.spec, containers } } },
    };
  };
}

describe('a field that admission changes', () => {
  const name = 'c1-api-server';
  const imagesIn = ({ objects }: typeof complete) =>
    objects
      .get<Workload>(Deployment, name)
      ?.spec.template.spec.containers.map((one) => (one as { image?: string }).image);

  it('in a write of others is taken back, once, although it has no other owner', async () => {
    const managementCluster = complete.copy();
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    const { management, user } = managementCluster;
    management.policy = rewriting((manager) => manager === others.fieldManager);
    const { length } = management.writes;
    const metadata = { annotations: { 'example.org/note': 'of a person' } };
    await user.mergePatch(Deployment, { namespace, name }, { metadata }, { fieldManager: others.fieldManager });
    expect(imagesIn(managementCluster)).toContain('mirror.example.org/other:1');
    await operator.untilSettled();
    expect(imagesIn(managementCluster)).toEqual(imagesIn(complete));
    const applied = management.writes
      .slice(length)
      .filter((write) => write === `apply Deployment ${namespace}/${name}`);
    expect(applied).toHaveLength(1);
    await expectNoWrites(managementCluster, operator);
    await operator.stop();
  });

  it("in the operator's own writes too stays, and costs no second write", async () => {
    const managementCluster = complete.copy();
    managementCluster.management.policy = rewriting(() => true);
    const operator = await OperatorProcess.start(managementCluster);
    await operator.untilSettled();
    for (const note of ['of a person', 'of another person']) {
      const metadata = { annotations: { 'example.org/note': note } };
      await managementCluster.user.mergePatch(Deployment, { namespace, name }, { metadata }, others);
      await operator.untilSettled();
      expect(imagesIn(managementCluster)).toContain('mirror.example.org/other:1');
      await expectNoWrites(managementCluster, operator);
    }
    await operator.stop();
  });
});

describe.each([
  [Deployment, 'c1-api-server'],
  [StatefulSet, 'c1-etcd'],
] as const)('the pod template of a $kind', (kind, name) => {
  it.each([
    [
      'the annotation of kubectl rollout restart',
      { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } },
    ],
    ['the network of the host', { spec: { hostNetwork: true } }],
  ])('keeps what others add, which its pods then have: %s', async (_, template) => {
    const { after, writes } = await applied(kind, name, template);
    expect(after.spec.template).toMatchObject(template);
    expect(writes.filter((write) => write.includes(`${kind.kind} team/${name}`))).toEqual([]);
  });

  it('keeps a container that others add', async () => {
    const container = { name: 'theirs', image: 'example.org/theirs:1' };
    const { after } = await applied(kind, name, { spec: { containers: [container] } });
    expect(after.spec.template.spec.containers).toContainEqual(container);
  });

  it('gets back what others change and the operator renders', async () => {
    const { after, before, writes } = await applied(kind, name, { spec: { automountServiceAccountToken: true } });
    expect(after.spec).toEqual(before.spec);
    expect(writes.filter((write) => write === `apply ${kind.kind} team/${name}`)).toHaveLength(1);
  });
});
