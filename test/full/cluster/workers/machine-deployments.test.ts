import type { MachineDeploymentObject, MachinePoolObject } from '../../../../imports/cluster-api.ts';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  caNotBeforeAnnotation,
  clusterNameLabel,
  clusterSecretType,
  fieldManager,
} from '../../../../constructs/api/group.ts';
import {
  Machine,
  MachineDeployment,
  MachinePool,
  type Resource,
  Secret,
} from '../../../../constructs/api/resources.ts';
import { ApplySet } from '../../../../reconciler/kube/apply-set.ts';
import { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { isConflict } from '../../../../reconciler/kube/errors.ts';
import { RequestCaches } from '../../../../reconciler/engine/tasks/request-cache.ts';
import { ManagementCluster } from '../../../../reconciler/clusters/management/cache.ts';
import { createCA, type KeyPair, validFor } from '../../../../reconciler/pki/issue.ts';
import { readCertificate } from '../../../../reconciler/pki/certificate.ts';
import { moveWorkers, type WorkerMove } from '../../../../reconciler/certificates/workers/move-workers.ts';
import { timestamp } from '../../../../reconciler/certificates/workers/machines.ts';
import type { Writer } from '../../../../reconciler/clusters/management/view.ts';
import { createWriter } from '../../../../reconciler/clusters/management/writer.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { scopeOf } from '../../../support/scope.ts';
import { ShippedRights } from '../../../support/shipped-rights.ts';
import { until } from '../../../support/until.ts';
import { single, Workbench } from '../../../support/workbench.ts';
import {
  createInfrastructure,
  infrastructureRef,
  installInfrastructure,
  machineTemplateRef,
} from '../../../system/infrastructure.ts';
import { createMachineDeployment } from '../../../system/machine-deployment.ts';
import { installAddon } from '../../../tools/testbed/addons.ts';
import { instanceFrom } from '../../../tools/testbed/instance.ts';

const namespace = 'machine-deployments';
const cluster = 'c1';
const instance = instanceFrom(process.env, inject('testbed'));
/** Cluster API spaces its reconciles, and shares two cores with everything else. */
const limitMs = 120_000;
let bench: Workbench;
let rights: ShippedRights | undefined;
/** With the rights of the operator. */
let operator: KubeClient | undefined;
let writer: Writer;
let old: KeyPair;
let signer: KeyPair;

beforeAll(async () => {
  // The kinds that Machines reference; no bootstrap data is needed.
  await installAddon(instance, 'kubeadm-bootstrap', (line) => console.log(line));
  bench = await Workbench.open(inject('kubeconfig'), namespace);
  await installInfrastructure(bench.client);
  await createInfrastructure(bench.client, namespace, cluster);
  // No operator reconciles its control plane.
  await bench.create(cluster, single, { infrastructureRef: infrastructureRef(cluster) });
  rights = await ShippedRights.grant({
    client: bench.client,
    kubeconfig: inject('kubeconfig'),
    namespace,
    watchNamespace: namespace,
  });
  operator = new KubeClient(await rights.connect());
  writer = writerOf(operator);
  const validity = validFor(3_600_000, new Date());
  old = await createCA({ commonName: 'kubernetes' }, validity);
  signer = await createCA({ commonName: 'kubernetes' }, validity);
});
afterAll(async () => {
  await operator?.connection.close();
  await rights?.end();
  await bench.close();
});

function writerOf(client: KubeClient): Writer {
  const clock = systemClock;
  const onError = (error: unknown): void => console.log(error);
  return createWriter({
    client,
    applySet: new ApplySet({ client, fieldManager, lookup: () => undefined, clock, onRevert: () => {} }),
    management: new ManagementCluster({ client, clock, namespace, onError }),
    key: `${namespace}/${cluster}-cp`,
    namespace,
    name: `${cluster}-cp`,
    cluster,
    infrastructure: undefined,
    requestCaches: new RequestCaches(clock),
  });
}

const deployment = () => bench.client.get<MachineDeploymentObject>(MachineDeployment, { namespace, name: cluster });
const machines = async () => (await bench.client.list(Machine, { namespace })).items;

function move(since: Date): Promise<WorkerMove> {
  const props = { signer: signer.certificate, retiring: [old.certificate], since };
  return moveWorkers({ ...scopeOf(new MemoryObjects(), { now: new Date() }), writer }, props);
}

test('Cluster API replaces the Machines of a MachineDeployment once when another CA signs', async () => {
  const options = { namespace, cluster, version: single.version, replicas: 1 };
  await createMachineDeployment(instance, bench.client, options);
  // Cluster API would wait for a version of the control plane before it creates any Machine.
  const annotations = { 'machineset.cluster.x-k8s.io/skip-preflight-checks': 'All' };
  await bench.client.mergePatch(
    MachineDeployment,
    { namespace, name: cluster },
    { metadata: { annotations } },
    { fieldManager: 'user' },
  );
  const first = await until('a Machine', async () => (await machines())[0], limitMs);
  expect(first.metadata.labels?.[clusterNameLabel]).toBe(cluster);
  // A Machine of the same second counts as new, also for Cluster API.
  const since = new Date(Date.parse(first.metadata.creationTimestamp ?? '') + 1_000);
  await until('the next second', () => Date.now() > since.getTime() + 1_000);

  const begun = await until('the roll-out to be asked for', async () => {
    const one = await move(since);
    return (await deployment()).spec?.rollout?.after ? one : undefined;
  });
  expect(begun).toMatchObject({ isDone: false });
  expect(begun.message).toBe(`MachineDeployments ${cluster} replace Machines ${first.metadata.name}`);
  expect((await deployment()).spec?.rollout).toMatchObject({ after: timestamp(since) });

  await until('a second Machine', async () => (await machines()).length === 2, limitMs);
  const { managedFields } = (await deployment()).metadata;
  await move(since);
  const ownFields = (fields: typeof managedFields) =>
    fields?.filter(({ manager }) => manager?.startsWith(fieldManager));
  expect(ownFields((await deployment()).metadata.managedFields)).toEqual(ownFields(managedFields));
});

test('a time that a user sets meanwhile is not overwritten', async () => {
  const read = await deployment();
  const after = '2031-01-01T00:00:00Z';
  await bench.client.mergePatch(
    MachineDeployment,
    { namespace, name: cluster },
    { spec: { rollout: { after } } },
    { fieldManager: 'user' },
  );
  const fields = { spec: { rollout: { after: '2030-01-01T00:00:00Z' } }, onlyIfUnchanged: true };
  await expect(writer.setFields(MachineDeployment, read, fields, 'worker-rollout')).rejects.toSatisfy(isConflict);
  expect((await deployment()).spec?.rollout?.after).toBe(after);
});

test('a MachinePool is annotated beside the fields of its user, and waited for while it has bootstrap data of before', async () => {
  const name = 'pool';
  const dataSecretName = 'pool-data';
  await bench.client.create(
    { ...resourceFields(Secret), metadata: { namespace, name: dataSecretName }, type: clusterSecretType },
    { fieldManager: 'user' },
  );
  const infrastructure = machineTemplateRef(name);
  const template = {
    metadata: { annotations: { own: 'annotation' } },
    spec: { clusterName: cluster, bootstrap: { dataSecretName }, infrastructureRef: infrastructure },
  };
  await bench.client.create(
    {
      ...resourceFields(MachinePool),
      metadata: { namespace, name, labels: { [clusterNameLabel]: cluster } },
      spec: { clusterName: cluster, replicas: 0, template },
    },
    { fieldManager: 'user' },
  );
  const { message } = await until('the annotation', async () => {
    const moved = await move(new Date(Date.now() + 2_000));
    return moved.message.includes('MachinePools pool') ? moved : undefined;
  });
  expect(message).toContain('new machines of MachinePools pool accept the old CA only');
  const pool = await bench.client.get<MachinePoolObject>(MachinePool, { namespace, name });
  const caNotBefore = timestamp(readCertificate(signer.certificate).notBefore);
  expect(pool.spec?.template).toMatchObject({
    ...template,
    metadata: { annotations: { own: 'annotation', [caNotBeforeAnnotation]: caNotBefore } },
  });
});

const resourceFields = ({ apiVersion, kind }: Resource) => ({ apiVersion, kind });
