import type { SecretObject } from '../../../imports/kubernetes.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  Deployment,
  HostedControlPlane,
  Lease,
  PersistentVolume,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { deleteKeptVolumes, importControlPlane } from '../../../reconciler/import/commands.ts';
import { ValidatingWebhookConfiguration } from '../../../reconciler/import/resources.ts';
import { takeSteps } from '../../../reconciler/import/run.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { snapshotOf } from '../../support/etcd-database.ts';
import { comparableObjects } from '../../support/loop/comparable-objects.ts';
import { commandSession } from '../../support/loop/command-session.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { otherCA, otherEndpoint, otherIssuer, otherProvidersCluster } from '../../support/loop/other-provider.ts';
import type { MemoryClientOptions } from '../../support/memory-cluster/client.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';
import { namespace } from '../../support/scope.ts';

let bucket: ObjectStoreServer;
beforeAll(async () => {
  bucket = await ObjectStoreServer.start();
  bucket.objects.set(`${namespace}/c1/final.etcd`, snapshotOf({ revisions: [2, 4711], etcdVersion: '3.6.0' }));
});
afterAll(() => bucket.stop());

const source = { cluster: 'c1', snapshot: 'final.etcd', issuer: undefined };

/** A session in which Kubernetes' controllers act while the command waits. */
function sessionOf(cluster: MemoryCluster, options: MemoryClientOptions = {}) {
  const pause = async () => {
    cluster.settle();
    await cluster.clock.advance(1000);
  };
  return commandSession(cluster, importControlPlane, { ...options, pause });
}

const run = (cluster: MemoryCluster, values: Record<string, string | boolean>) => {
  const { session, printed, reported } = sessionOf(cluster);
  return { ended: importControlPlane.prepare({ positionals: ['c1'], values })(session), printed, reported };
};

const release = (cluster: MemoryCluster, values: Record<string, boolean>) => {
  const { session, printed } = commandSession(cluster, deleteKeptVolumes);
  return { ended: deleteKeptVolumes.prepare({ positionals: ['c1'], values })(session), printed };
};

interface VolumeObject extends KubeObject {
  readonly spec?: { readonly persistentVolumeReclaimPolicy?: string };
}
const volumes = async ({ user }: MemoryCluster) =>
  (await user.list<VolumeObject>(PersistentVolume)).items
    .filter(({ metadata }) => /^pv-\d$/.test(metadata.name))
    .map(({ metadata: { name, annotations = {} }, spec }) => [
      name,
      spec?.persistentVolumeReclaimPolicy,
      annotations['controlplane.cluster.x-k8s.io/kept-for-import-of'],
    ]);

const isWrite = (action: string): boolean => /^(create|patch|delete|apply) /.test(action);
class Killed extends Error {}

describe('hcp-import', () => {
  it('shows what it would do, and changes nothing', async () => {
    const cluster = await otherProvidersCluster(bucket);
    const { length } = cluster.management.writes;
    const { ended, printed } = run(cluster, { snapshot: 'final.etcd' });
    await ended;
    expect(printed[0]).toBe('hcp-import moves Cluster team/c1 from teutonet to HostedControlPlane c1-x7k2p. It');
    expect(printed.at(-1)).toBe('Nothing was changed. The import begins with --yes.');
    expect(cluster.management.writes.slice(length)).toEqual([]);
  });

  it.each([
    ['its operator leads', 'manager-7f9_0b5c7d6e-1a2b-4c3d-8e9f-0123456789ab', 30_000, true],
    ['its operator has ended', 'manager-7f9_0b5c7d6e-1a2b-4c3d-8e9f-0123456789ab', -30_000, false],
    ['the operator of this provider leads', 'manager-7f9_4711', 30_000, false],
  ])('waits for the other operator to end: %s', async (_, holderIdentity, sinceMs, isRefused) => {
    const cluster = await otherProvidersCluster(bucket);
    const { apiVersion, kind } = Lease;
    const renewTime = new Date(cluster.clock.now() + sinceMs).toISOString();
    const metadata = { namespace, name: 'controlplane.cluster.x-k8s.io' };
    const lease = { apiVersion, kind, metadata, spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 } };
    cluster.management.create(Lease, lease, { fieldManager: 'other' });
    const { ended } = run(cluster, { snapshot: 'final.etcd' });
    const refusal = await ended.then(() => '', String);
    expect(refusal.includes('an operator of teutonet runs')).toBe(isRefused);
  });

  it('waits for the removal of the webhook', async () => {
    const cluster = await otherProvidersCluster(bucket);
    const { apiVersion, kind } = ValidatingWebhookConfiguration;
    const webhooks = [{ name: 'vhostedcontrolplane.kb.io' }];
    const configuration = { apiVersion, kind, metadata: { name: 'old' }, webhooks };
    cluster.management.create(ValidatingWebhookConfiguration, configuration, { fieldManager: 'other' });
    await expect(run(cluster, { snapshot: 'final.etcd', yes: true }).ended).rejects.toThrow(
      'delete ValidatingWebhookConfiguration old',
    );
  });

  it('gives the operator a control plane that it restores, with the CA, the endpoint and the issuer of before', async () => {
    const cluster = await otherProvidersCluster(bucket);
    const operator = await OperatorProcess.start(cluster);
    await operator.rounds(2);
    expect(cluster.conditions.find(({ type }) => type === 'Ready')?.reason).toBe('ForeignControlPlane');
    const { ended, printed, reported } = run(cluster, { snapshot: 'final.etcd', yes: true });
    let isOver = false;
    void ended.finally(() => (isOver = true)).catch(() => {});
    await operator.reconcileUntil('the end of the import', () => isOver, 1000);
    await ended;
    expect(printed.join('\n')).toContain('final.etcd restored to revision ');
    expect(printed.join('\n')).toMatch(/the API was unavailable for \d+s/);
    expect(reported.map((line) => line.replace(/^\S+ +/, ''))).toContain('handing the control plane to the operator');
    await operator.untilSettled();
    expect(operator.errors).toEqual([]);
    const { spec, status } = cluster.hostedControlPlane as unknown as Record<string, Record<string, unknown>>;
    expect(spec).toMatchObject({ controlPlaneEndpoint: otherEndpoint });
    expect(status).toMatchObject({ serviceAccountIssuer: otherIssuer });
    expect(cluster.conditions.map(({ type }) => type)).not.toContain('CABundleReady');
    const ca = valueOf(cluster.objects.get<SecretObject>(Secret, 'c1-ca'), 'tls.crt') ?? '';
    expect(ca).toContain(splitCertificates(otherCA.certificate)[0]);
    expect(splitCertificates(ca)).toHaveLength(2);
    await operator.stop();
  });

  it('keeps the volumes of the other provider until a person lets them go', async () => {
    const cluster = await otherProvidersCluster(bucket);
    await takeSteps(sessionOf(cluster).session, source);
    const kept = ['pv-0', 'pv-1', 'pv-2'].map((name) => [name, 'Retain', 'team/c1']);
    expect(await volumes(cluster)).toEqual(kept);
    const asked = release(cluster, {});
    await asked.ended;
    expect(asked.printed).toContain('PersistentVolume pv-0: deleted with its data');
    expect(await volumes(cluster)).toEqual(kept);
    await release(cluster, { yes: true }).ended;
    expect(await volumes(cluster)).toEqual(['pv-0', 'pv-1', 'pv-2'].map((name) => [name, 'Delete', undefined]));
    expect(cluster.objects.get(Secret, 'c1-import')).toBeUndefined();
  });

  it('comes to the same end wherever it was killed', { timeout: 120_000 }, async () => {
    const whole = await otherProvidersCluster(bucket);
    const writes: string[] = [];
    await takeSteps(
      sessionOf(whole, { before: (action) => void (isWrite(action) && writes.push(action)) }).session,
      source,
    );
    // Of equal writes to objects of one kind only the first and the last: in between, the next one is the same.
    const kinds = writes.map((action) => action.split(' ', 2).join(' '));
    const moments = kinds.flatMap((kind, at) => (kind !== kinds[at - 1] || kind !== kinds[at + 1] ? [at] : []));
    expect(moments.length).toBeGreaterThan(20);
    const start = await otherProvidersCluster(bucket);
    for (const last of moments) {
      const cluster = start.copy();
      let count = 0;
      const before = (action: string) => {
        if (isWrite(action) && count++ === last) throw new Killed(action);
      };
      await expect(takeSteps(sessionOf(cluster, { before }).session, source)).rejects.toThrow(Killed);
      await takeSteps(sessionOf(cluster).session, source);
      expect(comparableObjects(cluster), `killed before ${writes[last]}`).toEqual(comparableObjects(whole));
      expect(await volumes(cluster)).toEqual(await volumes(whole));
    }
  });

  it('leaves etcd and all data as they are when no snapshot can be stored', async () => {
    const cluster = await otherProvidersCluster(bucket);
    await expect(takeSteps(sessionOf(cluster).session, { ...source, snapshot: undefined })).rejects.toThrow(
      'no snapshot was stored: no port is forwarded',
    );
    expect(cluster.objects.get(StatefulSet, 'c1-etcd')).toMatchObject({ spec: { replicas: 3 } });
    expect(cluster.objects.get(Deployment, 'c1-api-server')).toMatchObject({ spec: { replicas: 0 } });
    expect(cluster.management.writes.filter((write) => write.startsWith('delete') && !write.includes('Pod'))).toEqual(
      [],
    );
  });

  it('gives up when another program starts again what it stops', async () => {
    const cluster = await otherProvidersCluster(bucket);
    const replicas = { spec: { replicas: 2 } };
    const after = (action: string) => {
      if (!action.startsWith('patch Deployment')) return;
      void cluster.user.mergePatch(Deployment, { namespace, name: 'c1-api-server' }, replicas, {
        fieldManager: 'other',
      });
    };
    await expect(takeSteps(sessionOf(cluster, { after }).session, source)).rejects.toThrow(
      /another program undoes stopping c1-api-server\b.*: stop that program, such as the operator of teutonet, and run the command again/,
    );
  });

  it('gives up when another program pauses the control plane again that it hands over', async () => {
    const cluster = await otherProvidersCluster(bucket);
    const annotations = { 'cluster.x-k8s.io/paused': 'by another program' };
    const after = (action: string) => {
      if (!action.startsWith('patch HostedControlPlane')) return;
      void cluster.user.mergePatch(
        HostedControlPlane,
        { namespace, name: 'c1-x7k2p' },
        { metadata: { annotations } },
        { fieldManager: 'other' },
      );
    };
    await expect(takeSteps(sessionOf(cluster, { after }).session, source)).rejects.toThrow(
      'another program undoes handing the control plane to the operator, which was done 3 times: stop that program',
    );
  });

  it('has nothing to import from a control plane of this provider', async () => {
    const cluster = await otherProvidersCluster(bucket);
    await takeSteps(sessionOf(cluster).session, source);
    const operator = await OperatorProcess.start(cluster);
    await operator.reconcileUntil(
      'the restored control plane',
      () => cluster.objects.get(Deployment, 'c1-api-server') !== undefined,
    );
    await operator.stop();
    await release(cluster, { yes: true }).ended;
    await expect(run(cluster, { yes: true }).ended).rejects.toThrow('there is no control plane of teutonet to import');
    expect(await cluster.user.get(HostedControlPlane, ourName)).not.toHaveProperty(
      'metadata.annotations.cluster.x-k8s.io/paused',
    );
  });
});
