import type { AuthorityPlan } from '../../constructs/control-plane/certificates/plan.ts';
import type { Scope } from '../scope.ts';
import { createAuthority, type KeyPair, validFor } from './issue.ts';
import { askIssuer } from './issuer/ask-issuer.ts';

/** A new authority, or what is being waited for. */
export type ObtainedAuthority =
  | { readonly kind: 'obtained'; readonly pair: KeyPair }
  | {
      readonly kind: 'pending';
      /** One sentence: what is waited for, and what a person can do if it never comes. */
      readonly message: string;
      /** When to ask again; missing where an event will tell. */
      readonly again?: Date | undefined;
    };

export interface ObtainAuthorityProps {
  readonly plan: AuthorityPlan;
  /** Of the Secret that shall hold it: names what is made on the way. */
  readonly secret: string;
  readonly durationSeconds: number;
}

/**
 * A new authority with a new key: one that signs itself, or one that the issuer of the spec has signed. The latter is
 * pending for a while; to be called again until it is there, and stored by its caller, after which `clearRequests` takes
 * away what was kept meanwhile.
 */
export async function obtainAuthority(scope: Scope, props: ObtainAuthorityProps): Promise<ObtainedAuthority> {
  const { issuerRef } = scope.cluster.spec.certificates;
  if (issuerRef) return askIssuer(scope, props, issuerRef);
  const { plan, durationSeconds } = props;
  return { kind: 'obtained', pair: await createAuthority(plan, validFor(durationSeconds * 1000, scope.now)) };
}
