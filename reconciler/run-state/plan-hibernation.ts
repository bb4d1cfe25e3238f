import { planStop, type StopInput, type StopDecision } from './plan-stop.ts';

/** What decides about the next step of a hibernation. */
export interface HibernationInput extends Omit<StopInput, 'level'> {
  /** Whether it has the control plane: the spec asks for it, and neither a restore nor a move stops and starts it. */
  readonly isDue: boolean;
  /** Number of Machines and MachinePools whose nodes would lose their API server; 0 if a user accepts that. */
  readonly machines: number;
  /** Volume claims that are being deleted, and without which the others are no quorum. They end with the members. */
  readonly endangered: readonly string[];
}

export type HibernationDecision =
  | { readonly kind: 'awake' }
  | { readonly kind: 'refuse'; readonly machines: number }
  | { readonly kind: 'keepVolumes'; readonly claims: readonly string[]; readonly isAwake: boolean }
  | Exclude<StopDecision, { readonly kind: 'stopped' }>
  | { readonly kind: 'asleep' };

/**
 * The next step of a hibernation. Machines prevent it only before anything has stopped: a control plane that is stopped in part
 * does not serve.
 */
export function planHibernation({ isDue, machines, endangered, ...running }: HibernationInput): HibernationDecision {
  if (!isDue) return { kind: 'awake' };
  const step = planStop({ ...running, level: 'AllStopped' });
  const isAwake = step.kind === 'stopServers' && step.workloads.length > 0;
  if (isAwake && machines > 0) return { kind: 'refuse', machines };
  const endsVolumes = isAwake || (step.kind === 'stopMembers' && running.etcd.isWanted);
  if (endsVolumes && endangered.length > 0) return { kind: 'keepVolumes', claims: endangered, isAwake };
  return step.kind === 'stopped' ? { kind: 'asleep' } : step;
}
