import type { EventObject } from '../../../imports/kubernetes.ts';
import { oneLine } from '../../kube/termination-message.ts';
import { lastTime } from '../../clusters/management/warnings.ts';
import { spanText } from '../format.ts';

/** A cause, with those that it has itself. */
export interface Cause {
  readonly text: string;
  readonly causes: readonly Cause[];
}

/** More than the newest ones of an object repeat the same. */
const mostOfOne = 2;

/** The newest warnings about an object, as causes of its state, the newest first. */
export function warningsAbout(
  { kind, name }: { readonly kind: string; readonly name: string },
  events: readonly EventObject[],
  now: number,
): Cause[] {
  return events
    .filter(({ type, regarding }) => type === 'Warning' && regarding?.kind === kind && regarding.name === name)
    .toSorted((one, other) => lastTime(other) - lastTime(one))
    .slice(0, mostOfOne)
    .map((event) => {
      const { reason = '', note = '' } = event;
      const count = event.series?.count ?? event.deprecatedCount ?? 1;
      const often = count > 1 ? `, ${count} times` : '';
      return { text: `${reason} ${spanText(now - lastTime(event))} ago${often}: ${oneLine(note)}`, causes: [] };
    });
}
