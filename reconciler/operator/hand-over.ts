import type { LeaderElection } from '../kube/lease.ts';
import type { Reconciler } from '../reconcile/reconciler.ts';
import type { Signer } from '../signer/signer.ts';
import type { Controller } from './controller.ts';

/** Everything of an instance that may write on its own, and its leadership. */
interface LeadingParts {
  readonly controller: Pick<Controller, 'stop'>;
  readonly signer: Pick<Signer, 'stop'>;
  readonly reconciler: Pick<Reconciler, 'close'>;
  readonly events: { flush(): Promise<void> };
  /** Undefined without leader election. */
  readonly election: Pick<LeaderElection, 'stop'> | undefined;
}

/**
 * Ends all work, and releases the Lease only then: the next leader starts at once, and two instances must not change
 * one etcd or one backup at the same time. The Lease is renewed until all work has ended. If that takes longer than the
 * pod's grace period, the Lease expires instead.
 */
export async function handOver({ controller, signer, reconciler, events, election }: LeadingParts): Promise<void> {
  await controller.stop();
  await signer.stop();
  await reconciler.close();
  await events.flush();
  await election?.stop();
}
