import { enforcedCiliumNetworkPolicy } from './cilium-network-policy-evaluator.ts';
import type { Attempt, Direction, EnforcedPolicy, Party } from './enforced-policy.ts';
import { enforcedNetworkPolicy } from './kubernetes-network-policy-evaluator.ts';

/** Which end's policies must allow a connection: those of the end that opens it, of the end that accepts it, or both. */
export type Ends = Direction | 'both';

/** The policies in force in a cluster. It reads them as rendered, of either kind, independently of the code that renders them. */
export class Enforcement {
  readonly #policies: readonly EnforcedPolicy[];
  readonly #restricting: Record<Direction, Map<Party, EnforcedPolicy[]>> = { ingress: new Map(), egress: new Map() };

  /** @throws for everything that it does not support: ignoring a restriction would report too much as allowed. */
  constructor(policies: readonly { readonly kind: string }[]) {
    this.#policies = policies.map(enforced);
  }

  /** Whether these ends of a connection allow it. */
  allows(ends: Ends, from: Party, to: Party, attempt: Attempt): boolean {
    // Kubernetes always allows a node to reach its own pods, or kubelets could not probe them.
    if (from.kind === 'own node') return true;
    return (
      (ends === 'ingress' || this.#allows('egress', from, to, attempt)) &&
      (ends === 'egress' || this.#allows('ingress', to, from, attempt))
    );
  }

  #allows(direction: Direction, subject: Party, peer: Party, attempt: Attempt): boolean {
    const restricting = this.#restrictingOf(direction, subject);
    return restricting.length === 0 || restricting.some((policy) => policy.allows(direction, peer, attempt));
  }

  /** Cached: a matrix asks for few parties tens of thousands of times. */
  #restrictingOf(direction: Direction, party: Party): EnforcedPolicy[] {
    const known = this.#restricting[direction].get(party);
    if (known) return known;
    const found = this.#policies.filter(
      (policy) => party.kind === 'pod' && policy.selects(party) && policy.restricts(direction),
    );
    this.#restricting[direction].set(party, found);
    return found;
  }
}

function enforced(policy: { readonly kind: string }): EnforcedPolicy {
  switch (policy.kind) {
    case 'NetworkPolicy':
      return enforcedNetworkPolicy(policy);
    case 'CiliumNetworkPolicy':
      return enforcedCiliumNetworkPolicy(policy);
    default:
      throw new Error(`${policy.kind} is no policy`);
  }
}
