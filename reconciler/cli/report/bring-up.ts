import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { phases } from '../../reconcile/phases.ts';
import type { Overview, Step } from '../overview.ts';

/** Steps that began and ended together, in milliseconds after the creation of the control plane. */
export interface Span {
  readonly steps: readonly Step[];
  /** When what they need was done. */
  readonly begins: number;
  /** Undefined for one that still waits. */
  readonly ends: number | undefined;
}

/** How a control plane came up. */
export interface BringUp {
  /** The sequence, by begin and end. */
  readonly spans: readonly Span[];
  /** Steps that wait for others. */
  readonly blocked: readonly Step[];
  /** Steps whose last change was after the bring-up: of their first one nothing is kept. */
  readonly later: readonly Step[];
  /** Milliseconds from the creation to the last step, or to now while one waits. */
  readonly lasts: number;
  /** Milliseconds from the creation to the first answer of the API server. */
  readonly serves: number | undefined;
}

/** After the first answer of the API server, a change that comes later than this after the one before is of another day. */
const quietMs = 10 * 60_000;

const needs: ReadonlyMap<ConditionType, readonly ConditionType[]> = new Map(
  phases.map((phase) => [phase.condition, phase.needs.map(({ condition }) => condition)]),
);

/** Reads it from the conditions, which have the time of their last change. Undefined before anything is reported. */
export function bringUpOf({ created, initialized, steps }: Overview, now: number): BringUp | undefined {
  if (created === null || steps.length === 0) return undefined;
  const since = (time: string) => Math.max(0, Date.parse(time) - Date.parse(created));
  const serves = initialized === null ? undefined : since(initialized);
  const done = steps.filter(({ state }) => state === 'ok');
  const until =
    serves === undefined
      ? Infinity
      : lastOf(
          done.map((step) => since(step.since)),
          serves,
        );
  const isEarly = (step: Step): boolean => since(step.since) <= until;
  // what is off is not drawn, and others have waited for it nevertheless
  const settled = steps.filter(({ state }) => state === 'ok' || state === 'off');
  const ends = new Map(settled.filter(isEarly).map((step) => [step.type, since(step.since)]));
  const waiting = steps.filter(({ state }) => ['waits', 'fails', 'unknown'].includes(state));
  const isBlocked = ({ reason }: Step) => reason === 'WaitingForOtherPhases';
  const open = serves === undefined ? waiting.filter((step) => !isBlocked(step)) : [];
  const spans = [...done.filter(isEarly), ...open].map((step): Span => {
    const end = ends.get(step.type);
    const begins = Math.max(0, ...(needs.get(step.type) ?? []).flatMap((type) => ends.get(type) ?? []));
    return { steps: [step], begins: Math.min(begins, end ?? begins), ends: end };
  });
  return {
    spans: merged(spans),
    blocked: serves === undefined ? waiting.filter(isBlocked) : [],
    later: [...done.filter((step) => !isEarly(step)), ...(serves === undefined ? [] : waiting)],
    lasts: open.length > 0 ? since(new Date(now).toISOString()) : Math.max(0, serves ?? 0, ...ends.values()),
    serves,
  };
}

/** The last change that still belongs to those before it. */
function lastOf(changes: readonly number[], serves: number): number {
  let last = serves;
  for (const change of [...changes].sort((one, other) => one - other)) {
    if (change - last > quietMs) break;
    last = Math.max(last, change);
  }
  return last;
}

/** Those of the same time as one, in their order. */
function merged(spans: readonly Span[]): Span[] {
  const groups = Map.groupBy(spans, ({ steps, begins, ends }) => `${begins}-${ends ?? steps[0]?.type}`);
  return [...groups.values()]
    .map((group) => ({ ...group[0]!, steps: group.flatMap(({ steps }) => steps) }))
    .sort((one, other) => one.begins - other.begins || (one.ends ?? Infinity) - (other.ends ?? Infinity));
}
