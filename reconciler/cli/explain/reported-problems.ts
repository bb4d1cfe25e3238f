import { isCurrent, type ReportedCondition } from '../../clusters/exposure/reported-condition.ts';
import type { KubeObject } from '../../kube/object.ts';
import { oneLine } from '../../clusters/pods/termination-message.ts';

/** The conditions of the Gateway API that are True when something is wrong. */
const negative = ['Conflicted'];

/** Why an object does not work, by its conditions. @param needed the types of those that must be True */
export function problemsIn(
  conditions: readonly ReportedCondition[],
  object: KubeObject,
  needed: readonly string[],
): string[] {
  const relevant = conditions.filter(({ type }) => needed.includes(type));
  const stale = relevant.filter((condition) => !isCurrent(condition, object)).map(({ type }) => type);
  const missing = needed.filter((type) => !relevant.some((condition) => condition.type === type));
  return [
    ...(stale.length === 0
      ? []
      : [
          `the controller has not processed generation ${object.metadata.generation} yet (${[...new Set(stale)].join(', ')})`,
        ]),
    ...(missing.length === 0 ? [] : [`the controller has not reported ${missing.join(' and ')} yet`]),
    ...failuresIn(relevant, object),
  ];
}

/** The conditions that report a failure of the present generation, with what the controller says about it. */
export function failuresIn(conditions: readonly ReportedCondition[], object: KubeObject): string[] {
  return conditions
    .filter((condition) => isCurrent(condition, object))
    .filter(({ type, status }) => status !== (negative.includes(type) ? 'False' : 'True'))
    .map(({ type, status, reason = '', message = '' }) =>
      [`${type} is ${status}`, oneLine(reason), oneLine(message)].filter(Boolean).join(': '),
    );
}
