import type { ContainerStateTerminated, ContainerStatus, PodObject, PodStatus } from '../../../imports/kubernetes.ts';

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
