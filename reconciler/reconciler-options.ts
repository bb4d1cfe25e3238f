import type { LookupFunction } from 'node:net';
import type { OpenEtcdLoopAccess } from './etcd/reconcile-etcd.ts';
import type { OpenApi } from './hosted/open-api.ts';
import type { KubernetesApi } from './kube/client.ts';
import type { Clock } from './kube/clock.ts';
import type { EventRecorder } from './kube/events.ts';
import type { RequestRecord } from './kube/request.ts';
import type { ManagementCluster } from './management/cache.ts';
import type { TrustProbes } from './rotation/ca/trust-probes.ts';
import type { StatusWriter } from './status/writer.ts';

/** How everything is reached that belongs to a hosted control plane. */
export interface Reach {
  /** Its API servers. */
  readonly hostedApi: OpenApi;
  /** The members of its etcd, to look after them. */
  readonly etcd: OpenEtcdLoopAccess;
  /** Servers of single pods, in a rotation. */
  readonly trustProbes: TrustProbes;
}

/** What a reconciler is given by the process it runs in. */
export interface ReconcilerOptions {
  readonly client: KubernetesApi;
  readonly management: ManagementCluster;
  readonly statusWriter: StatusWriter;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Ways to what is not the management cluster. By default connections are dialled. */
  readonly reach?: Partial<Reach> | undefined;
  /** Resolves the hosts of endpoints. By default the machine's resolver does. */
  readonly lookup?: LookupFunction | undefined;
  /** Hears of watches of hosted clusters that were interrupted, with the key of the HostedControlPlane. */
  readonly onHostedError: (key: string, error: unknown) => void;
  /** Hears every request to a hosted cluster. */
  readonly onHostedRequest?: ((record: RequestRecord) => void) | undefined;
  /** Namespace this process runs in as a pod; undefined outside of the cluster. */
  readonly operatorNamespace?: string | undefined;
  /** Image that pods which restore backups run; undefined where nobody knows it. */
  readonly operatorImage?: string | undefined;
}
