import type { CAPlan } from '../../../constructs/control-plane/certificates/plan.ts';
import type { KeyPair } from '../issue.ts';

/** A new authority, or what is being waited for. */
export type ObtainedCA =
  | { readonly kind: 'obtained'; readonly pair: KeyPair }
  | {
      readonly kind: 'pending';
      /** One sentence: what is waited for, and what a person can do if it never comes. */
      readonly message: string;
      /** When to ask again; missing where an event will tell. */
      readonly requeueAt?: Date | undefined;
    };

export interface ObtainCAProps {
  readonly plan: CAPlan;
  /** Of the Secret that shall hold it: names what is made on the way. */
  readonly secret: string;
  readonly durationSeconds: number;
}
