import type { MachineDeploymentObject, MachinePoolObject } from '../../../imports/cluster-api.ts';
import { X509Certificate } from 'node:crypto';
import { caNotBeforeAnnotation, rolledOutForAnnotation } from '../../../constructs/api/group.ts';
import { Machine, MachineDeployment, MachinePool, type Resource, Secret } from '../../../constructs/api/resources.ts';
import { signingSeconds } from '../../../constructs/control-plane/certificates/signing-duration.ts';
import { HostedClusterNotReady } from '../../clusters/hosted/outage.ts';
import { resultsOf, settleAll } from '../../kube/concurrency.ts';
import { isConflict, isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { readCertificate } from '../../pki/certificate.ts';
import { signerFingerprint } from '../../pki/pem.ts';
import type { HostedAccess } from '../../clusters/hosted/hosted-client.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import { planWorkers, type WorkersState } from './plan-worker-move.ts';
import { bootstrapDataOf, type MachinePoolState, timestamp } from './machines.ts';
import { issuedToNodes, nodeCertificatesOf } from './node-certificates.ts';

/** The progress of the nodes of a hosted cluster towards another CA. */
export interface WorkerMove {
  /** No node needs the old CA any more to authenticate. */
  readonly isDone: boolean;
  /** What it waits for, as a sentence; empty when done. */
  readonly message: string;
  /** When to reconcile again although nothing changed. */
  readonly requeueAt?: Date | undefined;
}

interface WorkerMoveProps {
  /** PEM of the signing CA. */
  readonly signer: string;
  /** PEM of the CAs that are to be removed. */
  readonly retiring: readonly string[];
  /** When the new CA began to sign. */
  readonly since: Date;
}

/** Another client has written too. */
const conflictRetryMs = 1_000;
const notesAtOnce = 10;
const dayMs = 24 * 3600_000;

/** What the move of workers needs. */
type WorkerMoveContext = ControlPlaneContext & HostedAccess;

/**
 * Moves the nodes to the signing CA, after all of them trust it. Call it again until it is done; the effect of each
 * step is observable. To a node, a CA with the key of its predecessor is the same CA.
 */
export async function moveWorkers(scope: WorkerMoveContext, props: WorkerMoveProps): Promise<WorkerMove> {
  if (props.retiring.every((one) => publicKeyOf(one).equals(publicKeyOf(props.signer)))) {
    return { isDone: true, message: '' };
  }
  try {
    return await move(scope, props);
  } catch (error) {
    if (!(error instanceof HostedClusterNotReady)) throw error;
    return { isDone: false, message: error.message, requeueAt: new Date(scope.now.getTime() + error.afterMs) };
  }
}

async function move(scope: WorkerMoveContext, props: WorkerMoveProps): Promise<WorkerMove> {
  const state = await observe(scope, props);
  if (!state) return { isDone: false, message: 'the operator has not listed the Nodes of the hosted cluster yet' };

  const { notes, rollOut, annotate, message, requeueAt } = planWorkers(state);

  const hosted = scope.hosted(scope.facts);
  resultsOf(await settleAll(notes, notesAtOnce, ({ node, annotations }) => hosted.annotateNode(node, annotations)));
  for (const deployment of rollOut) {
    if (await replaceMachines(scope, deployment, state)) continue;
    return { isDone: false, message, requeueAt: new Date(scope.now.getTime() + conflictRetryMs) };
  }
  for (const pool of annotate) await annotateTemplate(scope, pool, state);

  return { isDone: message === '', message, requeueAt };
}

async function observe(
  scope: WorkerMoveContext,
  { signer, since }: WorkerMoveProps,
): Promise<WorkersState | undefined> {
  const hosted = scope.hosted(scope.facts);
  const [nodes, requests] = [hosted.nodeMetadata(), hosted.certificateRequests()];
  if (!nodes || !requests) return undefined;
  const [machines, deployments, pools] = await Promise.all([
    listInstalled<KubeObject>(scope, Machine),
    listInstalled<MachineDeploymentObject>(scope, MachineDeployment),
    listInstalled<MachinePoolObject>(scope, MachinePool),
  ]);
  return {
    signer,
    signerName: signerFingerprint(signer).slice(0, 12),
    since,
    oldEnd: endOfOld(scope, since),
    now: scope.now,
    nodes,
    issued: new Map(nodeCertificatesOf(scope.cluster).map((kind) => [kind, issuedToNodes(requests, kind)])),
    machines,
    deployments,
    pools: await Promise.all(pools.map((pool) => withBootstrapData(scope, pool))),
    caNotBefore: timestamp(readCertificate(signer).notBefore),
  };
}

/** Only its age is used. */
async function withBootstrapData({ writer }: WorkerMoveContext, pool: MachinePoolObject): Promise<MachinePoolState> {
  const name = bootstrapDataOf(pool);
  return { pool, bootstrapData: name === undefined ? undefined : await writer.read(Secret, name) };
}

/** Includes a margin for clocks, and for a controller manager that loaded the new key a little later. */
function endOfOld({ cluster }: WorkerMoveContext, since: Date): Date {
  const lifeMs = signingSeconds(cluster) * 1000;
  return new Date(since.getTime() + lifeMs + Math.min(dayMs, lifeMs / 10));
}

/** Returns false if the MachineDeployment was changed meanwhile. */
async function replaceMachines(
  { writer }: WorkerMoveContext,
  deployment: MachineDeploymentObject,
  { signerName, since }: WorkersState,
): Promise<boolean> {
  const fields = {
    annotations: { [rolledOutForAnnotation]: signerName },
    spec: { rollout: { after: timestamp(since) } },
    onlyIfUnchanged: true,
  };
  try {
    await writer.setFields(MachineDeployment, deployment, fields, 'worker-rollout');
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return false;
  }
}

async function annotateTemplate(
  { writer }: WorkerMoveContext,
  pool: MachinePoolObject,
  { caNotBefore }: WorkersState,
): Promise<void> {
  const spec = { template: { metadata: { annotations: { [caNotBeforeAnnotation]: caNotBefore } } } };
  await writer.setFields(MachinePool, pool, { spec }, 'worker-rollout');
}

/** A kind that is not installed has no objects. */
async function listInstalled<T extends KubeObject>({ writer }: WorkerMoveContext, resource: Resource): Promise<T[]> {
  try {
    return await writer.readAll<T>(resource, {});
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return [];
  }
}

function publicKeyOf(ca: string): Buffer {
  return new X509Certificate(ca).publicKey.export({ type: 'spki', format: 'der' });
}
