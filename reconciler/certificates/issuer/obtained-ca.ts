import type { CAPlan } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import type { KeyPair } from '../../pki/issue.ts';

/** A new CA, or what it waits for. */
export type ObtainedCA =
  | { readonly kind: 'obtained'; readonly pair: KeyPair }
  | {
      readonly kind: 'pending';
      /** One sentence: what it waits for, and what a person can do if it never comes. */
      readonly message: string;
      /** When to ask again; unset if an event triggers it. */
      readonly requeueAt?: Date | undefined;
    };

export interface ObtainCAProps {
  readonly plan: CAPlan;
  /** The Secret for it, which also determines the names of the intermediate objects. */
  readonly secret: string;
  readonly durationSeconds: number;
}
