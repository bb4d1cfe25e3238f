import { isDeepStrictEqual } from 'node:util';
import { type ConditionType, conditionTypes, isConditionType } from '../../../constructs/api/conditions.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import type { Condition, HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { wholeSeconds } from '../../kube/micro-time.ts';
import type { KubeObject } from '../../kube/object.ts';
import { stateOf } from './state.ts';
import type { ManagementCluster } from '../../clusters/management/cache.ts';
import type { ConditionUpdate, ConditionUpdates } from '../../engine/condition-update.ts';

/** A condition whose status or reason has changed. */
export interface Transition {
  readonly object: KubeObject;
  readonly type: ConditionType;
  readonly update: ConditionUpdate;
  /** The condition until now; undefined if there was none. */
  readonly before: Condition | undefined;
  /** Whether workers could join before. */
  readonly isInitialized: boolean;
}

export interface StatusWriterOptions {
  readonly client: Pick<KubeClient, 'apply'>;
  readonly management: Pick<ManagementCluster, 'remember'>;
  readonly clock: Clock;
  /** Called for every transition after it was written, for the log and for events. */
  readonly onTransition: (transition: Transition) => void;
}

/** A HostedControlPlane as the API returns it. The writer keeps fields of its status that this version does not know. */
interface ReportedObject extends KubeObject {
  readonly status?: unknown;
}

type StatusFields = Omit<HostedControlPlaneStatus, 'conditions' | 'summary'>;

/** Writes the status of HostedControlPlanes when it has changed. */
export class StatusWriter {
  readonly #options: StatusWriterOptions;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes a whole status.
   * @param reconciled generation of the spec that was reconciled: the last accepted one while the current one is refused
   */
  async write(
    object: ReportedObject,
    fields: StatusFields,
    updates: ConditionUpdates,
    { reconciled }: { readonly reconciled?: number | undefined } = {},
  ): Promise<void> {
    const { generation: observedGeneration = 0 } = object.metadata;
    const generationOf = (type: ConditionType): number =>
      aboutCurrentSpec.includes(type) ? observedGeneration : (reconciled ?? observedGeneration);
    await this.#apply(object, { ...fields, observedGeneration }, draftsOf(updates, generationOf), updates);
  }

  /**
   * Writes some conditions and fields, and leaves the rest of the status as it is, with the generations for which it was
   * computed.
   * @param isObserved whether the operator has decided about the current generation of the spec
   */
  async patch(
    object: ReportedObject,
    updates: ConditionUpdates,
    {
      isObserved = false,
      fields: changed = {},
    }: { readonly isObserved?: boolean; readonly fields?: StatusFields } = {},
  ): Promise<void> {
    const { conditions = [], ...previous } = (object.status ?? {}) as HostedControlPlaneStatus;
    const fields = { ...previous, ...changed };
    const { generation = 0 } = object.metadata;
    const drafts = [
      ...ownConditions(conditions).filter(({ type }) => !(type in updates)),
      ...draftsOf(updates, () => generation),
    ];
    const status = isObserved ? { ...fields, observedGeneration: generation } : fields;
    await this.#apply(object, status, drafts.toSorted(byReportingOrder), updates);
  }

  async #apply(
    object: ReportedObject,
    fields: StatusFields,
    drafts: readonly ConditionDraft[],
    updates: ConditionUpdates,
  ): Promise<void> {
    const { client, management, clock } = this.#options;
    const previous = (object.status ?? {}) as HostedControlPlaneStatus;
    const before = previous.conditions ?? [];
    const conditions = mergeConditions(before, drafts, new Date(clock.now()));
    const status = { ...fields, summary: stateOf(conditions).text, conditions };
    if (isDeepStrictEqual({ ...previous, conditions: ownConditions(before) }, status)) return;

    const { apiVersion, kind } = object;
    const { name, namespace } = object.metadata;
    const metadata = namespace === undefined ? { name } : { name, namespace };
    const answer = await client.apply<ReportedObject>(
      { apiVersion, kind, metadata, status },
      { fieldManager, force: true, subresource: 'status' },
    );
    management.remember(answer);

    this.#reportTransitions(object, previous, updates);
  }

  #reportTransitions(object: KubeObject, previous: HostedControlPlaneStatus, updates: ConditionUpdates): void {
    const isInitialized = previous.initialization?.controlPlaneInitialized ?? false;
    for (const type of conditionTypes) {
      const update = updates[type];
      const before = previous.conditions?.find((condition) => condition.type === type);
      if (update && (before?.status !== update.status || before.reason !== update.reason)) {
        this.#options.onTransition({ object, type, update, before, isInitialized });
      }
    }
  }
}

/** Conditions that judge the current spec, also while it is refused. */
const aboutCurrentSpec: readonly ConditionType[] = ['Ready', 'Paused', 'SpecAccepted'];

function draftsOf(updates: ConditionUpdates, generationOf: (type: ConditionType) => number): ConditionDraft[] {
  return conditionTypes.flatMap((type) => {
    const update = updates[type];
    return update
      ? [{ type, ...update, message: shortened(update.message), observedGeneration: generationOf(type) }]
      : [];
  });
}

function byReportingOrder(one: ConditionDraft, other: ConditionDraft): number {
  const position = ({ type }: ConditionDraft) => conditionTypes.findIndex((known) => known === type);
  return position(one) - position(other);
}

/** Conditions of the operator. Others belong to other writers. */
function ownConditions(conditions: readonly Condition[]): Condition[] {
  return conditions.filter(({ type }) => isConditionType(type));
}

/** Messages are limited for readability; the schema also has a limit. */
function shortened(message: string): string {
  return message.length <= 1024 ? message : `${message.slice(0, 1021)}...`;
}

/** A condition before its transition time is known. */
export type ConditionDraft = Omit<Condition, 'lastTransitionTime'>;

/**
 * The conditions to write: exactly the drafts in their order. Each keeps its transition time unless its status changes.
 * Other conditions are removed.
 */
export function mergeConditions(
  previous: readonly Condition[],
  drafts: readonly ConditionDraft[],
  now: Date,
): Condition[] {
  const before = new Map(previous.map((condition) => [condition.type, condition]));
  return drafts.map((draft) => transition(before.get(draft.type), draft, now));
}

function transition(before: Condition | undefined, draft: ConditionDraft, now: Date): Condition {
  const lastTransitionTime = before && before.status === draft.status ? before.lastTransitionTime : wholeSeconds(now);
  return { ...draft, lastTransitionTime };
}
