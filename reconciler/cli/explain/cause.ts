import type { EventObject } from '../../clusters/pods/warnings.ts';
import { eventsOf } from './events.ts';

/** A cause, with those that it has itself. */
export interface Cause {
  readonly text: string;
  readonly causes: readonly Cause[];
}

/** The newest warnings about an object, as causes of its state. */
export function warningsAbout(
  object: { readonly kind: string; readonly name: string },
  events: readonly EventObject[],
  now: number,
): Cause[] {
  return eventsOf(events, object, now).map((text) => ({ text, causes: [] }));
}
