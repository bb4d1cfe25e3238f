import { Lease } from '../../../../constructs/api/resources.ts';
import { providerNamespace } from '../../../../constructs/cluster/provider-names.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { Informer } from '../../../../reconciler/kube/informer.ts';
import type { LeaseObject } from '../../../../reconciler/kube/lease-decision.ts';

/** The lease of the operator, as a second instance sees it. */
export class LeaseWatch {
  readonly #leases: Informer<LeaseObject>;
  #renewedAt: number | undefined;
  #longestMs = 0;
  #transitions = 0;
  #first: number | undefined;

  constructor(client: KubeClient) {
    this.#leases = new Informer<LeaseObject>({
      client,
      clock: systemClock,
      resource: Lease,
      namespace: providerNamespace,
    });
    this.#leases.onChange(({ object: { spec = {} } }) => this.#note(spec));
  }

  async start(): Promise<void> {
    this.#leases.start();
    await this.#leases.synced;
  }

  /** How often another holder has taken it, and the longest time between two renewals; since {@link forget}. */
  get seen(): { readonly transitions: number; readonly longestMs: number } {
    const sinceMs = this.#renewedAt === undefined ? NaN : Date.now() - this.#renewedAt;
    return { transitions: this.#transitions - (this.#first ?? 0), longestMs: Math.max(this.#longestMs, sinceMs) };
  }

  forget(): void {
    this.#longestMs = 0;
    this.#first = this.#transitions;
  }

  async stop(): Promise<void> {
    await this.#leases.stop();
  }

  #note({ renewTime = '', leaseTransitions = 0 }: NonNullable<LeaseObject['spec']>): void {
    const at = Date.parse(renewTime);
    this.#longestMs = Math.max(this.#longestMs, at - (this.#renewedAt ?? at));
    this.#renewedAt = at;
    this.#transitions = leaseTransitions;
  }
}
