import type { ContainerStateTerminated, ContainerStatus, PodObject, PodStatus } from '../../../imports/kubernetes.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { Manifest } from '../manifest.ts';
import { operatorImageOf } from '../receiver/operator-image.ts';
import type { StoreReader } from '../store/store-access.ts';

/** What a verification works with. */
export interface VerificationContext extends ControlPlaneContext {
  readonly facts: Facts;
  readonly storeReader: StoreReader;
}

/** Applies the pod that restores a backup. */
export async function createVerificationPod(
  scope: VerificationContext,
  run: string,
  { sizeBytes, sha256 }: Manifest,
): Promise<void> {
  const etcdVerify = { run, sizeBytes, sha256, operatorImage: operatorImageOf(scope) };
  await scope.writer.apply(renderControlPlane(scope.cluster, { ...scope.facts, etcdVerify }, 'etcd-verify'));
}

/** Deletes all pods of verifications, and returns how many still exist. */
export async function removeVerificationPods({ cluster, reader, writer }: VerificationContext): Promise<number> {
  const pods = reader.list(Pod, selectorLabels(cluster.name, 'etcd-verify'));
  for (const pod of pods) if (!pod.metadata.deletionTimestamp) await writer.delete(Pod, pod);
  return pods.length;
}

/** The progress of the pod of a verification. */
export type VerificationPodState =
  | { readonly kind: 'starting'; readonly message: string }
  | { readonly kind: 'receiving'; readonly address: string }
  | { readonly kind: 'restoring' }
  /** etcd has been started. It reports itself whether it serves. */
  | { readonly kind: 'started'; readonly address: string }
  | {
      readonly kind: 'failed';
      /** `receive`, `restore` or `etcd`; undefined if the whole pod was terminated, such as for lack of space. */
      readonly step: string | undefined;
      readonly exitCode?: number | undefined;
      readonly message: string;
    };

/** Reads the progress of a pod. */
export function verificationPodState({ metadata, status = {} }: PodObject): VerificationPodState {
  const steps = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const failed = steps.find(({ name, state }) => {
    return state?.terminated && (name === 'etcd' || state.terminated.exitCode !== 0);
  });
  // The reason for which the whole pod was terminated is more useful than the resulting exit codes.
  if (status.phase === 'Failed' && status.reason) {
    return { kind: 'failed', step: undefined, message: `${status.reason}: ${status.message ?? metadata.name}` };
  }
  if (failed) {
    const terminated = failed.state?.terminated ?? {};
    return { kind: 'failed', step: failed.name, exitCode: terminated.exitCode, message: describe(terminated) };
  }

  const running = steps.find(({ state }) => state?.running);
  const address = status.podIP;
  if (running?.name === 'restore') return { kind: 'restoring' };
  if (running && address) return { kind: running.name === 'etcd' ? 'started' : 'receiving', address };
  return { kind: 'starting', message: reasonOf(status, steps) };
}

/** The last line of a step describes its failure. */
function describe({ exitCode, reason = 'Error', message = '' }: ContainerStateTerminated): string {
  const last = message.trim().split('\n').at(-1) ?? '';
  return `${reason}, exit code ${exitCode ?? 'unknown'}${last === '' ? '' : `: ${last}`}`;
}

function reasonOf({ conditions = [] }: PodStatus, steps: readonly ContainerStatus[]): string {
  const waiting = steps.find(({ state }) => state?.waiting?.message)?.state?.waiting;
  const unscheduled = conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return waiting?.message ?? unscheduled?.message ?? 'not started yet';
}
