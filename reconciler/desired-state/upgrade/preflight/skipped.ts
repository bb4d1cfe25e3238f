import { skipPreflightAnnotation } from '../../../../constructs/api/group.ts';
import type { ObjectMeta } from '../../../kube/object.ts';
import { type PreflightCheck, preflightChecks } from './checks.ts';

/** The checks that a user skips, and what the annotation names besides. */
export interface SkippedChecks {
  readonly checks: readonly PreflightCheck[];
  readonly unknown: readonly string[];
}

/** Reads the annotation of a HostedControlPlane. */
export function skippedChecks({ annotations = {} }: Pick<ObjectMeta, 'annotations'>): SkippedChecks {
  const names = (annotations[skipPreflightAnnotation] ?? '').split(',').map((name) => name.trim());
  const isCheck = (name: string): name is PreflightCheck => preflightChecks.some((check) => check === name);
  return { checks: names.filter(isCheck), unknown: names.filter((name) => name !== '' && !isCheck(name)) };
}
