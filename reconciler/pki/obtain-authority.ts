import type { AuthorityPlan } from '../../constructs/control-plane/certificates/plan.ts';
import type { Scope } from '../scope.ts';
import { createAuthority, type KeyPair, validFor } from './issue.ts';

/** A new authority, or what is being waited for. */
export type ObtainedAuthority =
  | { readonly kind: 'obtained'; readonly pair: KeyPair }
  | { readonly kind: 'pending'; readonly message: string };

export interface ObtainAuthorityProps {
  readonly plan: AuthorityPlan;
  /** Of the Secret that shall hold it: names what is made on the way. */
  readonly secret: string;
  readonly durationSeconds: number;
}

/** A new authority with a new key: one that signs itself, or one that the issuer of the spec has signed. */
export async function obtainAuthority(
  { now }: Scope,
  { plan, durationSeconds }: ObtainAuthorityProps,
): Promise<ObtainedAuthority> {
  return { kind: 'obtained', pair: await createAuthority(plan, validFor(durationSeconds * 1000, now)) };
}
