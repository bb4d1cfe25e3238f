import { beforeAll, expect, it } from 'vitest';
import {
  caNotBeforeAnnotation,
  clientCertificateSignerAnnotation,
  rolledOutForAnnotation,
  servingCertificateSignerAnnotation,
} from '../../../../constructs/api/group.ts';
import { Machine, MachineDeployment, MachinePool, Secret } from '../../../../constructs/api/resources.ts';
import { kubeletServingSigner } from '../../../../constructs/cluster/workload-identities.ts';
import { HostedClusterNotReady } from '../../../../reconciler/clusters/hosted/outage.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { createCA, type KeyPair, validFor } from '../../../../reconciler/pki/issue.ts';
import { signerFingerprint } from '../../../../reconciler/pki/pem.ts';
import { moveWorkers } from '../../../../reconciler/certificates/workers/move-workers.ts';
import type { HostedClient } from '../../../../reconciler/clusters/hosted/hosted-client.ts';
import { issuedKubeletRequest } from '../../../support/kubelet-client-request.ts';
import { MemoryObjects, type StoredObject } from '../../../support/memory-objects.ts';
import { now, scopeOf } from '../../../support/scope.ts';

const since = new Date(now.getTime() - 60_000);
const dayMs = 24 * 3600_000;
let old: KeyPair;
let signer: KeyPair;

beforeAll(async () => {
  const validity = validFor(3650 * dayMs, now);
  old = await createCA({ commonName: 'kubernetes' }, validity);
  signer = await createCA({ commonName: 'kubernetes' }, validity);
});

const props = () => ({ signer: signer.certificate, retiring: [old.certificate], since });
const noteOf = ({ certificate }: KeyPair) => signerFingerprint(certificate).slice(0, 12);

/** A hosted cluster whose Nodes keep their annotations. */
class Nodes {
  readonly notes = new Map<string, Readonly<Record<string, string>>>();
  readonly #names: readonly string[];

  constructor(...names: readonly string[]) {
    this.#names = names;
  }

  hosted(changes: Partial<HostedClient> = {}): Partial<HostedClient> {
    return {
      nodeMetadata: () => this.#names.map((name) => this.#node(name)),
      annotateNode: async ({ metadata }, annotations) => {
        this.notes.set(metadata.name, annotations);
      },
      ...changes,
    };
  }

  #node(name: string): KubeObject {
    const annotations = this.notes.get(name) ?? {};
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z', annotations },
    };
  }
}

function readerWithDeployment(): MemoryObjects {
  const management = new MemoryObjects();
  const { apiVersion, kind } = MachineDeployment;
  management.put({ apiVersion, kind, metadata: { name: 'd' }, spec: { replicas: 1 } });
  const labels = { 'cluster.x-k8s.io/deployment-name': 'd' };
  const metadata = { name: 'm', labels, creationTimestamp: '2026-01-01T00:00:00Z' };
  management.put({ apiVersion: Machine.apiVersion, kind: Machine.kind, metadata });
  return management;
}

it('the move ends at once for a CA with the key of the previous one', async () => {
  const scope = scopeOf(readerWithDeployment(), { hosted: new Nodes('a').hosted() });
  await expect(moveWorkers(scope, { ...props(), retiring: [signer.certificate] })).resolves.toEqual({
    isDone: true,
    message: '',
  });
});

it('the move annotates a Node that has certificates of the new CA, and uses the annotation when the requests are gone', async () => {
  const nodes = new Nodes('a');
  const certificateRequests = [
    await issuedKubeletRequest('a', signer, now),
    await issuedKubeletRequest('a', signer, now, { signerName: kubeletServingSigner }),
  ];
  const management = new MemoryObjects();
  const seen = scopeOf(management, { hosted: nodes.hosted({ certificateRequests: () => certificateRequests }) });
  await expect(moveWorkers(seen, props())).resolves.toMatchObject({ isDone: true });
  expect(nodes.notes.get('a')).toEqual({
    [clientCertificateSignerAnnotation]: noteOf(signer),
    [servingCertificateSignerAnnotation]: noteOf(signer),
  });
  const gone = scopeOf(management, { hosted: nodes.hosted() });
  await expect(moveWorkers(gone, props())).resolves.toMatchObject({ isDone: true });
});

it('the move waits for the signing duration of the controller manager, and a margin', async () => {
  const hosted = new Nodes('a').hosted();
  const ends = async (spec: object) =>
    (await moveWorkers(scopeOf(new MemoryObjects(), { spec, hosted }), props())).requeueAt;
  const fromSince = (ms: number) => new Date(since.getTime() + ms);
  expect(await ends({})).toEqual(fromSince(366 * dayMs));
  expect(await ends({ certificates: { leafCertificateDuration: '480h' } })).toEqual(fromSince(21 * dayMs));
  const args = { 'cluster-signing-duration': '10m' };
  expect(await ends({ deployment: { controllerManager: { args } } })).toEqual(fromSince(11 * 60_000));
});

it('the move rolls Machines once, and names them until they are gone', async () => {
  const management = readerWithDeployment();
  const scope = scopeOf(management);
  const first = await moveWorkers(scope, props());
  expect(first).toMatchObject({ isDone: false, message: 'MachineDeployments d replace Machines m' });
  await moveWorkers(scope, props());
  expect(management.writes).toEqual(['set worker-rollout of MachineDeployment d']);
  const deployment = await management.read<StoredObject>(MachineDeployment, 'd');
  expect(deployment).toMatchObject({
    metadata: { annotations: { [rolledOutForAnnotation]: noteOf(signer) } },
    spec: { replicas: 1, rollout: { after: '2026-11-21T11:59:00Z' } },
  });
  const [machine] = management.list(Machine, {});
  management.remove(machine!);
  await expect(moveWorkers(scope, props())).resolves.toMatchObject({ isDone: true, message: '' });
});

it('the move annotates the template of a MachinePool once, and waits until its machines join by data of the new CA', async () => {
  const management = new MemoryObjects();
  const bootstrapData = (name: string, creationTimestamp: string) => {
    management.put({ apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { name, creationTimestamp } });
    return { template: { spec: { bootstrap: { dataSecretName: name } } } };
  };
  const { apiVersion, kind } = MachinePool;
  const spec = bootstrapData('before', '2026-11-21T11:58:59Z');
  const before = management.put({ apiVersion, kind, metadata: { name: 'p' }, spec });
  const scope = scopeOf(management);
  const first = await moveWorkers(scope, props());
  expect(first).toMatchObject({
    isDone: false,
    message: expect.stringMatching(/^new machines of MachinePools p /) as string,
  });
  await moveWorkers(scope, props());
  expect(management.writes).toEqual(['set worker-rollout of MachinePool p']);
  const annotated = await management.read<StoredObject>(MachinePool, 'p');
  const annotations = { [caNotBeforeAnnotation]: '2026-11-21T11:55:00Z' };
  expect(annotated).toMatchObject({ spec: { template: { metadata: { annotations }, ...spec.template } } });
  management.put({
    ...before,
    spec: { template: { ...bootstrapData('after', '2026-11-21T11:59:00Z').template, metadata: { annotations } } },
  });
  await expect(moveWorkers(scope, props())).resolves.toEqual({ isDone: true, message: '', requeueAt: undefined });
});

it('the move waits until Nodes and requests are listed, and while the API server does not answer', async () => {
  const unknown = [
    { nodeMetadata: () => undefined },
    { certificateRequests: () => undefined },
  ] satisfies Partial<HostedClient>[];
  for (const hosted of unknown) {
    const move = await moveWorkers(scopeOf(new MemoryObjects(), { hosted }), props());
    expect(move).toEqual({ isDone: false, message: 'the operator has not listed the Nodes of the hosted cluster yet' });
  }
  const certificateRequests = [await issuedKubeletRequest('a', signer, now)];
  const hosted = new Nodes('a').hosted({
    certificateRequests: () => certificateRequests,
    annotateNode: async () => {
      throw new HostedClusterNotReady('the API server does not answer', 2_000, undefined);
    },
  });
  await expect(moveWorkers(scopeOf(new MemoryObjects(), { hosted }), props())).resolves.toEqual({
    isDone: false,
    message: 'the API server does not answer',
    requeueAt: new Date(now.getTime() + 2_000),
  });
});
