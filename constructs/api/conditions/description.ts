import type { Severity } from '../severity.ts';

/** What a condition means when it is true, and every reason it may have besides `sharedReasons`, with its severity. */
export interface ConditionDescription {
  readonly meaning: string;
  readonly reasons: Readonly<Record<string, Severity>>;
}
