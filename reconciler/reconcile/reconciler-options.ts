import type { ManagementNetwork } from '../../constructs/cluster/facts.ts';
import type { ManagementIssuer } from '../../constructs/cluster/management-issuer.ts';
import type { PlatformLists } from '../../constructs/cluster/platform-lists.ts';
import type { OpenEtcd } from '../etcd/access.ts';
import type { LoopMemberClient } from '../etcd/observe-members.ts';
import type { OpenApi } from '../clusters/hosted/connect.ts';
import type { KubernetesApi } from '../kube/client.ts';
import type { Clock } from '../kube/clock.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { RequestRecord } from '../kube/request.ts';
import type { ManagementCluster } from '../clusters/management/cache.ts';
import type { Destinations } from '../clusters/network/destinations.ts';
import type { Quarantine } from './quarantine/quarantine.ts';
import type { HasAgent } from '../clusters/pods/has-agent.ts';
import type { TrustProbes } from '../certificates/ca/trust-probes.ts';
import type { StatusWriter } from './status/writer.ts';

/** Access to the servers of hosted control planes. */
export interface Reach {
  /** Its API servers. */
  readonly hostedApi: OpenApi;
  /** The members of its etcd, for the etcd loop. */
  readonly etcd: OpenEtcd<LoopMemberClient>;
  /** The members of its etcd, for backups and restores. */
  readonly etcdMembers: OpenEtcd;
  /** Servers of single pods, for a rotation. */
  readonly trustProbes: TrustProbes;
  /** Their konnectivity servers. */
  readonly hasAgent: HasAgent;
}

/** What the process provides to its reconciler. */
export interface ReconcilerOptions {
  readonly client: KubernetesApi;
  readonly management: ManagementCluster;
  readonly statusWriter: StatusWriter;
  readonly clock: Clock;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Access to everything outside of the management cluster. By default the operator dials it. */
  readonly reach?: Partial<Reach> | undefined;
  /** Where the operator may connect to when a tenant names the host. By default anywhere. */
  readonly destinations?: Destinations | undefined;
  /** Called when a watch of an object that a spec names is interrupted. */
  readonly onWatchError: (error: unknown) => void;
  /** Called when a watch of a hosted cluster is interrupted, with the key of the HostedControlPlane. */
  readonly onHostedError: (key: string, error: unknown) => void;
  /** Called for every request to a hosted cluster. */
  readonly onHostedRequest?: ((record: RequestRecord) => void) | undefined;
  /** Namespace of this process if it runs as a pod; undefined outside of a cluster. */
  readonly operatorNamespace?: string | undefined;
  /** The network of the management cluster, apart from the addresses of its API servers. */
  readonly managementNetwork?: ManagementNetwork | undefined;
  /** The issuer of the management cluster's tokens; undefined when the platform names none. */
  readonly managementIssuer?: ManagementIssuer | undefined;
  /** What the platform allows of annotations and classes. @default those of the installation */
  readonly platformLists?: PlatformLists | undefined;
  /** Issuers beyond its namespace that may sign the CAs of a control plane. @default none */
  readonly clusterIssuers?: readonly string[] | undefined;
  /** The newest release revision that it adopts. @default the newest one that it renders */
  readonly newestRevision?: number | undefined;
  /** How many control planes adopt it at a time because their own is no longer kept. @default 1 */
  readonly adoptionConcurrency?: number | undefined;
  /** Which control planes have ended the operator. Without it nothing is noted, and none is in quarantine. */
  readonly quarantine?: Quarantine | undefined;
  /** Whether this process is the second one of a control plane in quarantine, which stays so meanwhile. */
  readonly isSecondProcess?: boolean | undefined;
  /** Image of the pods that restore backups; undefined if it is not known. */
  readonly operatorImage?: string | undefined;
}
