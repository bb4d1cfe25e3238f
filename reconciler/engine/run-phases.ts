import type { Facts } from '../../constructs/cluster/facts.ts';
import { type ConditionReason, type ConditionType } from '../../constructs/api/conditions.ts';
import type { OnRefused } from '../kube/apply-set.ts';
import { messageOf } from '../kube/error-message.ts';
import { inSpan } from '../kube/span.ts';
import { InvalidConfiguration, type Outcome } from './outcome.ts';
import { Refusals } from './refusals.ts';
import type { StatusReport } from './status-report.ts';
import { type ConditionUpdate, conditionUpdate } from './condition-update.ts';

/** One step of a reconcile. It runs when all phases that it needs are done, and those before it have ended. */
export interface Phase<Scope> {
  readonly condition: ConditionType;
  readonly needs: readonly Phase<Scope>[];
  /** Phases that run before this one, whatever they come to. Facts of theirs may be missing. By default none. */
  readonly after?: readonly Phase<Scope>[] | undefined;
  run(scope: Scope): Promise<Outcome>;
  /** What is wrong with its objects, as a clause, while it waits for the phases that it needs: the two may have different causes. */
  meanwhile?(scope: Scope): string | undefined;
}

/** The result of one phase. */
export interface PhaseResult {
  readonly phase: { readonly condition: ConditionType };
  readonly update: ConditionUpdate;
  readonly isDone: boolean;
  /** Whether it waits for something that has made no progress in time. */
  readonly isStuck?: boolean | undefined;
  readonly facts: Facts;
  /** When to reconcile again even if nothing happens. */
  readonly requeueAt?: Date | undefined;
  /** Status fields that it reports. */
  readonly report?: StatusReport | undefined;
  /** The thrown error, for the log and the retry. */
  readonly error?: unknown;
}

/**
 * Runs every phase whose needs are done, in parallel where phases do not need each other. For every other phase it
 * reports what that phase waits for. A problem of one phase affects only the phases that need it.
 */
export async function runPhases<Scope extends RunScope>(
  phases: readonly Phase<Scope>[],
  scope: Scope,
): Promise<PhaseResult[]> {
  const running = new Map<Phase<Scope>, Promise<PhaseResult>>();
  const run = (phase: Phase<Scope>): Promise<PhaseResult> => {
    const started = running.get(phase);
    if (started) return started;
    const [needed, earlier] = [Promise.all(phase.needs.map(run)), Promise.all((phase.after ?? []).map(run))];
    const result = Promise.all([needed, earlier]).then(([needs, before]) => runPhase(phase, { needs, before }, scope));
    running.set(phase, result);
    return result;
  };
  return Promise.all(phases.map(run));
}

/** The part of a scope that running phases uses. */
interface RunScope {
  readonly facts: Facts;
  readonly now: Date;
  /** Whether a refused object is a condition only, and not the end of the phase. */
  readonly takesRefusals: boolean;
  /** Takes the refusals of one phase. */
  readonly onRefused?: OnRefused | undefined;
}

interface Ended {
  readonly needs: readonly PhaseResult[];
  readonly before: readonly PhaseResult[];
}

async function runPhase<Scope extends RunScope>(
  phase: Phase<Scope>,
  { needs, before }: Ended,
  scope: Scope,
): Promise<PhaseResult> {
  const facts = mergeFacts([scope.facts, ...[...before, ...needs].map((one) => one.facts)]);
  const missing = needs.filter(({ isDone }) => !isDone);
  if (missing.length > 0) {
    const names = missing.map((need) => need.phase.condition).join(', ');
    const isObserved = missing.some(({ update }) => update.reason !== 'NotObserved');
    const message = [`waiting for ${names}`, phase.meanwhile?.(scope)].filter((part) => part !== undefined).join('; ');
    return {
      phase,
      facts,
      isDone: false,
      update: conditionUpdate('False', isObserved ? 'WaitingForOtherPhases' : 'NotObserved', message),
    };
  }
  try {
    const outcome = await inSpan(phase.condition, {}, async (note) => {
      const refusals = new Refusals();
      const onRefused = scope.takesRefusals ? refusals.note : undefined;
      const result = refusals.judge(await phase.run({ ...scope, facts, onRefused }), scope.now);
      note({ outcome: result.kind });
      return result;
    });
    return { ...ended(phase, outcome, scope.now), facts: mergeFacts([facts, outcome.facts]) };
  } catch (error) {
    return { phase, facts, isDone: false, update: failed(error), error };
  }
}

function ended(phase: PhaseResult['phase'], outcome: Outcome, now: Date): Omit<PhaseResult, 'facts'> {
  if (outcome.kind === 'done') {
    const { requeueAt, report, reason = 'ReconcileSucceeded', message = '' } = outcome;
    return { phase, isDone: true, update: conditionUpdate('True', reason, message), requeueAt, report };
  }
  if (outcome.kind === 'degraded') {
    const { reason, message, requeueAt, report, isStuck } = outcome;
    return { phase, isDone: true, isStuck, update: conditionUpdate('False', reason, message), requeueAt, report };
  }
  const { reason, message, afterMs, report, isStuck } = outcome;
  const requeueAt = afterMs === undefined ? undefined : new Date(now.getTime() + afterMs);
  return { phase, isDone: false, isStuck, update: conditionUpdate('False', reason, message), requeueAt, report };
}

function failed(error: unknown): ConditionUpdate {
  const message = messageOf(error);
  const reason: ConditionReason = error instanceof InvalidConfiguration ? error.reason : 'ReconcileFailed';
  return conditionUpdate('False', reason, message);
}

/** Merges facts. Later facts win, but certificates and mounts are combined. */
export function mergeFacts(facts: readonly Partial<Facts>[]): Facts {
  const merged: Record<string, unknown> = {};
  const certificates = {};
  const mounts = {};
  for (const part of facts) {
    for (const [name, value] of Object.entries(part)) if (value !== undefined) merged[name] = value;
    Object.assign(certificates, part.certificates);
    Object.assign(mounts, part.mounts);
  }
  return { ...merged, certificates, mounts };
}

/** The condition updates of all phases. */
export function phaseConditions(results: readonly PhaseResult[]): Partial<Record<ConditionType, ConditionUpdate>> {
  return Object.fromEntries(results.map(({ phase, update }) => [phase.condition, update]));
}

/** Merges the status fields of all phases. Later ones win. */
export function mergeReports(results: readonly PhaseResult[]): StatusReport {
  const reports = results.flatMap(({ report }) => (report ? [report] : []));
  return { ...Object.assign({}, ...reports), etcd: Object.assign({}, ...reports.map(({ etcd }) => etcd)) };
}

/**
 * Throws unexpected errors for the retry. Problems that the user must correct are reported by conditions and not
 * retried.
 */
export function throwUnexpected(results: readonly PhaseResult[]): void {
  const errors = results
    .map(({ error }) => error)
    .filter((error) => error !== undefined && !(error instanceof InvalidConfiguration));
  if (errors.length > 1) throw new AggregateError(errors, errors.map((error) => String(error)).join('; '));
  if (errors.length > 0) throw errors[0];
}
