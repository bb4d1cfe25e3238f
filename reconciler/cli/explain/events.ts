import type { KubeObject } from '../../kube/object.ts';
import { oneLine } from '../../pods/last-words.ts';
import { spanText } from '../amounts.ts';

/** An event of `events.k8s.io`, also one that a client of the older API has written. */
export interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly deprecatedCount?: number;
  readonly deprecatedLastTimestamp?: string | null;
}

/** More than the newest ones of an object repeat the same. */
const mostOfOne = 2;

/** The newest warnings about an object, in words, the newest first. */
export function eventsOf(
  events: readonly EventObject[],
  { kind, name }: { readonly kind: string; readonly name: string },
  now: number,
): string[] {
  return events
    .filter(({ type, regarding }) => type === 'Warning' && regarding?.kind === kind && regarding.name === name)
    .toSorted((one, other) => lastTime(other) - lastTime(one))
    .slice(0, mostOfOne)
    .map((event) => {
      const { reason = '', note = '' } = event;
      const count = event.series?.count ?? event.deprecatedCount ?? 1;
      const often = count > 1 ? `, ${count} times` : '';
      return `${reason} ${spanText(now - lastTime(event))} ago${often}: ${oneLine(note)}`;
    });
}

function lastTime({ series, eventTime, deprecatedLastTimestamp, metadata }: EventObject): number {
  const known = series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return Date.parse(known ?? '') || 0;
}
