/** The grace period of a pod that has no `terminationGracePeriodSeconds`: Kubernetes' default. */
export const defaultGraceSeconds = 30;

/** How long clients still connect to a pod that the kubelet stops: until every proxy has removed it from its endpoints. */
export const servedSeconds = 3;

/** How long a process takes at most to end once it has nothing to wait for. */
const endSeconds = 7;

/** How long a process waits for open connections before it closes them, so that it ends before the kubelet kills it. */
export function drainSeconds(graceSeconds: number): number {
  return graceSeconds - endSeconds - servedSeconds;
}
