import { isAlreadyExists, kubeErrorOf } from '../../kube/errors.ts';
import { truncated } from '../../kube/truncated.ts';
import { oneLine } from '../pods/termination-message.ts';
import { type Amounts, fitsAfter } from './quota.ts';

/** What an API server says of an object that it is asked to create without storing it. */
export type Verdict =
  | { readonly kind: 'passed' }
  /** In the words of the API server. */
  | { readonly kind: 'refused'; readonly words: string }
  /** It did not decide. */
  | { readonly kind: 'unknown' };

const passed: Verdict = { kind: 'passed' };

/**
 * Reads the verdict from an error. An object that exists has passed everything else, because API servers look for its name
 * last. A webhook that does not support dry runs says nothing about the object.
 * @param ends what the pods use that end before the object is created
 */
export function verdictOf(error: unknown, ends: Amounts): Verdict {
  if (isAlreadyExists(error)) return passed;
  const { code = 0, message = '' } = kubeErrorOf(error) ?? {};
  const words = oneLine(message.replace(/^create \w+ \S+: /, ''));
  if (words.includes('does not support dry run')) return passed;
  const isDecided = [400, 403, 422].includes(code) || words.includes('failed calling webhook');
  if (!isDecided) return { kind: 'unknown' };
  return fitsAfter(message, ends) ? passed : { kind: 'refused', words };
}

/** What to do about a refusal, by the words of the API server. */
const advice: readonly (readonly [words: string, advice: string])[] = [
  ['failed quota', 'set `resources` of the component, or defaults in a LimitRange of the namespace'],
  ['exceeded quota', 'raise the quota, or lower `resources`'],
  ['per Container is', 'change the LimitRange, or `resources` of the component'],
  ['per Pod is', 'change the LimitRange, or `resources` of the component'],
  ['PriorityClass', 'create the PriorityClass, or correct `priorityClassName`'],
  ['violates PodSecurity', 'correct the settings of the pod, or the standard that the namespace enforces'],
  ['cannot ', 'give the operator the rights of its installation'],
];

const reportedRefusals = 3;
const longestBytes = 1024;

/** One sentence about all refusals, and what to do. @param words of the API server */
export function describeRefusals(words: readonly string[]): string {
  const causes = [...Map.groupBy(new Set(words), causeOf).values()].map(([first = '', ...others]) =>
    others.length > 0 ? `${first} (${others.length} more for the same reason)` : first,
  );
  const more = causes.length > reportedRefusals ? [`and ${causes.length - reportedRefusals} more`] : [];
  const told = advice.filter(([sign]) => causes.some((text) => text.includes(sign))).map(([, what]) => what);
  const all = [...causes.slice(0, reportedRefusals), ...more].join('; ');
  return [truncated(all, longestBytes), ...new Set(told)].join(': ');
}

/** Without the object: `pods "c1-etcd-0" is forbidden: no PriorityClass ...` */
function causeOf(words: string): string {
  return words.split(' is forbidden: ').at(-1) ?? words;
}
