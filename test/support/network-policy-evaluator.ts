import { enforcedCiliumNetworkPolicy } from './cilium-network-policy-evaluator.ts';
import type { Attempt, Direction, EnforcedPolicy, Party } from './enforced-policy.ts';
import { enforcedNetworkPolicy } from './kubernetes-network-policy-evaluator.ts';

/** Who lets a connection pass: the end that opens it, the end that takes it, or both, without which there is none. */
export type Ends = Direction | 'both';

/** A cluster's policies in force. Reads them as rendered, of either kind, and knows nothing of how they are made. */
export class Enforcement {
  readonly #policies: readonly EnforcedPolicy[];
  readonly #restricting: Record<Direction, Map<Party, EnforcedPolicy[]>> = { ingress: new Map(), egress: new Map() };

  /** @throws for everything that is not understood: a restriction must not be taken for none. */
  constructor(policies: readonly { readonly kind: string }[]) {
    this.#policies = policies.map(enforced);
  }

  /** Whether these ends of a connection let it pass. */
  passes(ends: Ends, from: Party, to: Party, attempt: Attempt): boolean {
    // Kubernetes never keeps a node from the pods it runs, or no pod could be probed.
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

  /** Remembered: a matrix asks of few parties, and tens of thousands of times. */
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
