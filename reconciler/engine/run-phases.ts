import type { Facts } from '../../constructs/cluster/facts.ts';
import { type ConditionReason, type ConditionType } from '../../constructs/api/conditions.ts';
import { messageOf } from '../kube/error-message.ts';
import { InvalidConfiguration, type Outcome, type StatusReport } from './outcome.ts';
import { type ConditionUpdate, conditionUpdate } from './condition-update.ts';

/** One step of a reconcile. It runs when all phases that it needs are done. */
export interface Phase<Scope> {
  readonly condition: ConditionType;
  readonly needs: readonly Phase<Scope>[];
  run(scope: Scope): Promise<Outcome>;
}

/** How one phase ended. */
export interface PhaseResult {
  readonly phase: { readonly condition: ConditionType };
  readonly update: ConditionUpdate;
  readonly isDone: boolean;
  readonly facts: Facts;
  /** Look again at this time even if nothing happens. */
  readonly requeueAt?: Date | undefined;
  /** What it found out for the status. */
  readonly report?: StatusReport | undefined;
  /** What was thrown, for the log and the retry. */
  readonly error?: unknown;
}

/**
 * Runs every phase whose needs are done, side by side where they do not need each other, and says for each other one
 * what it waits for. One phase's trouble reaches only those that need it.
 */
export async function runPhases<Scope extends RunScope>(
  phases: readonly Phase<Scope>[],
  scope: Scope,
): Promise<PhaseResult[]> {
  const running = new Map<Phase<Scope>, Promise<PhaseResult>>();
  const run = (phase: Phase<Scope>): Promise<PhaseResult> => {
    const started = running.get(phase);
    if (started) return started;
    const result = Promise.all(phase.needs.map(run)).then((needs) => runPhase(phase, needs, scope));
    running.set(phase, result);
    return result;
  };
  return Promise.all(phases.map(run));
}

/** What running phases takes of their scope. */
interface RunScope {
  readonly facts: Facts;
  readonly now: Date;
}

async function runPhase<Scope extends RunScope>(
  phase: Phase<Scope>,
  needs: readonly PhaseResult[],
  scope: Scope,
): Promise<PhaseResult> {
  const facts = mergeFacts([scope.facts, ...needs.map((need) => need.facts)]);
  const missing = needs.filter(({ isDone }) => !isDone);
  if (missing.length > 0) {
    const names = missing.map((need) => need.phase.condition).join(', ');
    return {
      phase,
      facts,
      isDone: false,
      update: conditionUpdate('False', 'WaitingForOtherPhases', `waiting for ${names}`),
    };
  }
  try {
    const outcome = await phase.run({ ...scope, facts });
    return { ...ended(phase, outcome, scope.now), facts: mergeFacts([facts, outcome.facts]) };
  } catch (error) {
    return { phase, facts, isDone: false, update: failed(error), error };
  }
}

function ended(phase: PhaseResult['phase'], outcome: Outcome, now: Date): Omit<PhaseResult, 'facts'> {
  if (outcome.kind === 'done') {
    const { requeueAt, report, message = '' } = outcome;
    return { phase, isDone: true, update: conditionUpdate('True', 'ReconcileSucceeded', message), requeueAt, report };
  }
  if (outcome.kind === 'degraded') {
    const { reason, message, requeueAt, report } = outcome;
    return { phase, isDone: true, update: conditionUpdate('False', reason, message), requeueAt, report };
  }
  const { reason, message, afterMs, report } = outcome;
  const requeueAt = afterMs === undefined ? undefined : new Date(now.getTime() + afterMs);
  return { phase, isDone: false, update: conditionUpdate('False', reason, message), requeueAt, report };
}

function failed(error: unknown): ConditionUpdate {
  const message = messageOf(error);
  const reason: ConditionReason = error instanceof InvalidConfiguration ? error.reason : 'ReconcileFailed';
  return conditionUpdate('False', reason, message);
}

/** Later facts win; certificates and mounts add up. */
export function mergeFacts(facts: readonly Partial<Facts>[]): Facts {
  const given = (part: Partial<Facts>) => Object.entries(part).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(facts.flatMap(given)),
    certificates: Object.assign({}, ...facts.map(({ certificates }) => certificates)),
    mounts: Object.assign({}, ...facts.map(({ mounts }) => mounts)),
  };
}

/** The updates of all phases by condition. */
export function phaseConditions(results: readonly PhaseResult[]): Partial<Record<ConditionType, ConditionUpdate>> {
  return Object.fromEntries(results.map(({ phase, update }) => [phase.condition, update]));
}

/** What all phases have found out for the status; later ones win. */
export function mergeReports(results: readonly PhaseResult[]): StatusReport {
  const reports = results.flatMap(({ report }) => (report ? [report] : []));
  return { ...Object.assign({}, ...reports), etcd: Object.assign({}, ...reports.map(({ etcd }) => etcd)) };
}

/** What a user must change is told by a condition and not retried; everything else is thrown for the retry. */
export function throwUnexpected(results: readonly PhaseResult[]): void {
  const errors = results
    .map(({ error }) => error)
    .filter((error) => error !== undefined && !(error instanceof InvalidConfiguration));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map((error) => String(error)).join('; '));
}
