import type { SecretObject } from '../../../imports/kubernetes.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { keptAnnotation } from '../../../constructs/api/group.ts';
import {
  Cluster,
  Deployment,
  HostedControlPlane,
  PersistentVolumeClaim,
  Secret,
} from '../../../constructs/api/resources.ts';
import { pairOf } from '../../../reconciler/pki/secret.ts';
import { keptSecrets } from '../../../reconciler/certificates/kept-secrets.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, settleBy } from '../../support/loop/scenario.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const retain = { etcd: { replicas: 3, volumeRetention: 'Retain' } };

/** The keys of a control plane, and a management cluster after its deletion, a minute later. */
let before: Record<string, unknown>;
let deleted: MemoryCluster;
beforeAll(async () => {
  deleted = await completeCluster(retain);
  before = dataIn(deleted);
  await deleteIn(deleted);
  await deleted.clock.advance(60_000);
});

function secretsIn({ objects }: MemoryCluster): readonly SecretObject[] {
  return keptSecrets(clusterName).flatMap((name) => objects.get<SecretObject & { spec?: never }>(Secret, name) ?? []);
}

function dataIn(management: MemoryCluster): Record<string, unknown> {
  return Object.fromEntries(secretsIn(management).map(({ metadata, data }) => [metadata.name, data]));
}

async function deleteIn(management: MemoryCluster): Promise<void> {
  await management.user.delete(HostedControlPlane, ourName);
  await settleBy(management);
}

/** Creates the object again, under the same name, and lets an operator run. */
async function createAgain(management: MemoryCluster, changes: object = retain): Promise<void> {
  const cluster = await management.user.get(Cluster, { namespace, name: clusterName });
  await management.orderControlPlane(cluster, changes);
  const operator = await OperatorProcess.start(management);
  await operator.rounds(12);
  expect(operator.errors).toEqual([]);
  await operator.stop();
}

function conditionIn({ conditions }: MemoryCluster, type: string) {
  return conditions.find((condition) => condition.type === type);
}

describe('volumes that a deletion has retained', () => {
  it('are kept with the keys and CAs without which they are useless, and these have no owner', () => {
    expect(dataIn(deleted)).toEqual(before);
    expect(Object.keys(before)).toHaveLength(5);
    expect(secretsIn(deleted).flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  });

  it('serve a new object of the same name with the same keys, which belong to it then', async () => {
    const management = deleted.copy();
    await createAgain(management);
    expect(conditionIn(management, 'Ready')).toMatchObject({ status: 'True' });
    expect(dataIn(management)).toEqual(before);
    const { uid } = management.hostedControlPlane.metadata;
    const owners = secretsIn(management).map(({ metadata }) => metadata.ownerReferences?.map((owner) => owner.uid));
    expect(owners).toEqual(secretsIn(management).map(() => [uid]));

    expect(secretsIn(management).map(({ metadata }) => metadata.annotations?.[keptAnnotation])).not.toContain('true');

    await management.change({ etcd: { volumeRetention: 'Delete' } });
    await deleteIn(management);
    expect(secretsIn(management)).toEqual([]);
    expect(management.objects.list(PersistentVolumeClaim, {})).toEqual([]);
  });

  it.each([
    ['encryption', 'EncryptionAtRestReady', 'EncryptionKeysMissing'],
    ['ca', 'CACertificatesReady', 'CACertificateMissing'],
    ['sa', 'CACertificatesReady', 'CACertificateMissing'],
  ])('never get a fresh key in the place of a lost one: %s', async (name, type, reason) => {
    const management = deleted.copy();
    await management.user.delete(Secret, { namespace, name: `c1-${name}` });
    await createAgain(management);
    expect(conditionIn(management, type)).toMatchObject({ status: 'False', reason });
    expect(management.objects.get(Secret, `c1-${name}`)).toBeUndefined();
    expect(management.objects.get(Deployment, 'c1-api-server')).toBeUndefined();
  });

  it('stay when a new object that could not use them is deleted', async () => {
    const management = deleted.copy();
    const claims = () => management.objects.list(PersistentVolumeClaim, {}).map(({ metadata }) => metadata.uid);
    const retained = claims();
    await management.user.delete(Secret, { namespace, name: 'c1-ca' });
    await createAgain(management, { etcd: { replicas: 3 } });
    await deleteIn(management);
    expect(retained).toHaveLength(3);
    expect(claims()).toEqual(retained);
  });

  it('get a fresh key if the user says that they hold no encrypted Secret', async () => {
    const management = deleted.copy();
    await management.user.delete(Secret, { namespace, name: 'c1-encryption' });
    await createAgain(management, { ...retain, encryptionAtRest: { provider: 'None' } });
    expect(conditionIn(management, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('are kept with the successor of a CA, and its rotation goes on', async () => {
    const rotating = { ...retain, certificates: { rotation: { etcdCA: 'please' } } };
    const management = await completeCluster(retain);
    await management.change(rotating);
    const operator = await OperatorProcess.start(management);
    await operator.rounds(3);
    await operator.stop();
    const successor = pairOf(management.objects.get<SecretObject & { spec?: never }>(Secret, 'c1-etcd-next'));
    expect(successor).toBeDefined();

    await deleteIn(management);
    await management.clock.advance(60_000);
    await createAgain(management, rotating);
    const after = management.objects.get<SecretObject & { spec?: never }>(Secret, 'c1-etcd-next');
    expect(pairOf(after)).toEqual(successor);
    expect(after?.metadata.ownerReferences).toMatchObject([{ uid: management.hostedControlPlane.metadata.uid }]);
    const trusted = pairOf(management.objects.get<SecretObject & { spec?: never }>(Secret, 'c1-etcd'))?.certificate;
    expect(trusted).toContain(successor?.certificate.trim());
    expect(conditionIn(management, 'Ready')).toMatchObject({ status: 'True' });
  });
});
