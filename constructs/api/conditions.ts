import { controlPlaneConditions } from './conditions/control-plane.ts';
import { summaryConditions } from './conditions/summaries.ts';
import { workloadConditions } from './conditions/workload.ts';
import { sharedReasons, type ConditionDescription, type Severity } from './severity.ts';

/** Conditions in the order they are reported: summaries first, then the steps in the order they become true. */
export const conditions = {
  ...summaryConditions,
  ...controlPlaneConditions,
  ...workloadConditions,
};

/**
 * Conditions that do not affect Ready. The control plane works while the operator's clock is wrong, while a backup store is unreachable, while a rotation is
 * in progress, when a kubelet requests a certificate that it must not have, while pods reach it by their environment only,
 * and while an upgrade is held.
 */
export const notCountedForReady: readonly ConditionType[] = [
  'ClocksAgree',
  'EtcdBackupReady',
  'EtcdBackupVerified',
  'CARotationReady',
  'ServiceAccountKeyRotationReady',
  'UpgradePreflightSucceeded',
  'WorkloadKubeletCertificatesReady',
  'WorkloadKubernetesServiceReady',
];

/** Conditions that are False while nothing is in progress; all others are True while the control plane is healthy. */
export const usuallyFalse: readonly ConditionType[] = [
  'RollingOut',
  'ScalingUp',
  'ScalingDown',
  'Deleting',
  'Paused',
  'Quarantined',
];

export type ConditionType = keyof typeof conditions;

type OwnReason<T extends ConditionType> = T extends ConditionType ? keyof (typeof conditions)[T]['reasons'] : never;

/** A reason a condition of this type may carry. */
export type ConditionReason<T extends ConditionType = ConditionType> = OwnReason<T> | keyof typeof sharedReasons;

/** Every condition type in reporting order. */
export const conditionTypes: readonly ConditionType[] = Object.keys(conditions).filter(isConditionType);

/** The steps in the management cluster and in the hosted one, without the summaries. */
export const stepTypes: readonly ConditionType[] = conditionTypes.filter(
  (type) => !Object.hasOwn(summaryConditions, type),
);

/**
 * True for the types the operator writes. Conditions of other types belong to other writers, and the operator keeps
 * them.
 */
export function isConditionType(type: string): type is ConditionType {
  return Object.hasOwn(conditions, type);
}

/**
 * Severity of a reason of this condition. Reasons that Ready takes from other conditions are routine, because these report
 * them, and so are those that another version of the operator has written.
 */
export function severityOf(type: ConditionType, reason: string): Severity {
  const { reasons: own }: ConditionDescription = conditions[type];
  if (type === 'Ready') return own[reason] ?? 'Routine';
  const shared: ConditionDescription['reasons'] = sharedReasons;
  return own[reason] ?? shared[reason] ?? 'Routine';
}
