import { type ConditionType, isConditionType, stepTypes } from '../../../constructs/api/conditions.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { isFault, waitedFor, withEtcdFault } from './waited-for.ts';

/** What a control plane is, in the words that every view of it shows. */
export interface State {
  /**
   * - `ready`: everything that the spec asks for exists and works; `impaired`: it does, but something beside it does not.
   * - `paused`, `hibernated`, `hibernating`, `deleting`: as a user has asked for.
   * - `waiting`: what takes its time; `failing`: a person has to act.
   * - `unknown`: nothing is reported yet.
   */
  readonly kind:
    | 'ready'
    | 'impaired'
    | 'paused'
    | 'hibernated'
    | 'hibernating'
    | 'deleting'
    | 'waiting'
    | 'failing'
    | 'unknown';
  /** What a person reads: `Ready`, `Ready, backups fail`, `Hibernated`, or the reason of what blocks. */
  readonly text: string;
  /** The condition that says so; undefined when nothing is reported yet. */
  readonly condition?: KnownCondition | undefined;
}

type KnownCondition = Condition & { readonly type: ConditionType };

/** What is wrong beside Ready, in words that follow it, the worst first. */
export const besideReady = {
  EtcdClusterHealthy: 'etcd is damaged',
  Quarantined: 'quarantined',
  ClocksAgree: 'clocks differ',
  EtcdBackupReady: 'backups fail',
  EtcdBackupVerified: 'backups unproven',
  CARotationReady: 'CA rotation stuck',
  ServiceAccountKeyRotationReady: 'key rotation stuck',
  UpgradePreflightSucceeded: 'upgrade held',
  Awake: 'hibernation refused',
  SpecSupported: 'flags ignored',
  SpecAccepted: 'release outdated',
  WorkloadKubeletCertificatesReady: 'kubelets refused',
  WorkloadKubernetesServiceReady: 'Service kubernetes fails',
} as const satisfies Partial<Record<ConditionType, string>>;

/** Reads it from the conditions alone. */
export function stateOf(conditions: readonly Condition[] = []): State {
  const known = conditions.filter((one): one is KnownCondition => isConditionType(one.type));
  const find = (type: ConditionType) => known.find((condition) => condition.type === type);
  const [ready, awake, paused, deleting] = [find('Ready'), find('Awake'), find('Paused'), find('Deleting')];
  if (paused?.status === 'True') return { kind: 'paused', text: 'Paused', condition: paused };
  if (deleting?.status === 'True') return { kind: 'deleting', text: 'Deleting', condition: deleting };
  if (ready === undefined) return { kind: 'unknown', text: 'Unknown' };
  if (ready.status === 'True') return besideReadyIn(known) ?? { kind: 'ready', text: 'Ready', condition: ready };
  const steps = (['SpecAccepted', ...stepTypes] as const).flatMap((type) => find(type) ?? []);
  const [blocking] = waitedFor(withEtcdFault(steps, find('EtcdClusterHealthy')));
  const condition = blocking?.reason === ready.reason ? blocking : ready;
  if (isFault(condition)) return { kind: 'failing', text: ready.reason, condition };
  const stop = awake && stopOf(awake);
  return stop ?? { kind: 'waiting', text: ready.reason, condition };
}

/** A hibernation that goes on, as a user has asked for. */
function stopOf(condition: KnownCondition): State | undefined {
  if (condition.status !== 'False' || condition.reason === 'WaitingForOtherPhases' || isFault(condition))
    return undefined;
  return condition.reason === 'Hibernated'
    ? { kind: 'hibernated', text: 'Hibernated', condition }
    : { kind: 'hibernating', text: 'Hibernating', condition };
}

/** A column has room for the words of one. */
function besideReadyIn(known: readonly KnownCondition[]): State | undefined {
  const [worst, ...more] = Object.entries(besideReady).flatMap(([type, words]) => {
    const condition = known.find((one) => one.type === type);
    return condition && (isFault(condition) || isIgnored(condition)) ? [{ words, condition }] : [];
  });
  if (worst === undefined) return undefined;
  const text = ['Ready', worst.words, ...(more.length > 0 ? [`${more.length} more`] : [])].join(', ');
  return { kind: 'impaired', text, condition: worst.condition };
}

/** Whether a part of the spec has no effect. */
export function isIgnored({ type, status }: Pick<KnownCondition, 'type' | 'status'>): boolean {
  return type === 'SpecSupported' && status === 'False';
}
