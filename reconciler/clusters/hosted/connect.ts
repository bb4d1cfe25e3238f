import { type Endpoint, formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { type KubernetesApi, KubeClient } from '../../kube/client.ts';
import { type ConnectionTarget, connectionFor } from '../../kube/config.ts';
import type { RequestRecord } from '../../kube/request.ts';
import type { KeyPair } from '../../pki/issue.ts';
import type { HostedRoom } from './rooms.ts';
import type { HostedTarget } from './target.ts';
import type { KubeClientOptions } from '../../kube/client-options.ts';
import type { Clock } from '../../kube/clock.ts';
import type { Destinations } from '../network/destinations.ts';

/** Opens a client of one API server. */
export type OpenApi = (target: ConnectionTarget, options: KubeClientOptions) => KubernetesApi;

/** A client that connects with its first request. */
const dialApi: OpenApi = (target, options) => new KubeClient(connectionFor(target), options);

/** Options of the client of one hosted cluster. */
export interface HostedClusterClientOptions {
  readonly clock: Clock;
  /** The memory for what it reads and holds. */
  readonly room: HostedRoom;
  /** Called after a change that may require a reconcile. */
  readonly onChange: () => void;
  /** Called when the operator has reverted a change of this object by another client. */
  readonly onRevert: (what: string) => void;
  /** Called when a watch was interrupted. It resumes automatically. */
  readonly onError: (error: unknown) => void;
  /** Called for every request to the hosted cluster. By default not called. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** After how many milliseconds a reconcile lists again what is not watched. By default 10,000. */
  readonly relistMs?: number | undefined;
  /** Where the endpoint may be. By default anywhere. */
  readonly destinations?: Destinations | undefined;
  /** Called for everything that an API server sends, before it is read. By default not called. */
  readonly onBytes?: (() => void) | undefined;
  /** Opens a client of an API server. By default it connects over the network. */
  readonly open?: OpenApi | undefined;
}

/** A healthy hosted API server answers quickly, and a worker must not wait for the usual half minute. */
const deadlineMs = 5_000;

/**
 * Maximum size of one answer. The largest object that etcd stores has 1.5 MiB, and six times that as JSON, if it
 * consists of control characters.
 */
export const longestAnswerBytes = 16 * 1024 * 1024;

/**
 * 20 MB of heap, and some 50 ms to parse. No object of a cluster has a hundredth, and a list with more is read in smaller pages. A text of
 * the maximum size could have fifty times as many.
 */
const values = { values: 200_000, depth: 64 };

type ConnectOptions = Pick<HostedClusterClientOptions, 'room' | 'onRequest' | 'onBytes' | 'open'>;

/** Makes a client of one API server of a hosted cluster, which connects with its first request. */
export type ConnectHosted = (
  address: Endpoint,
  identity: KeyPair,
  how: Pick<ConnectionTarget, 'serverName' | 'lookup'>,
) => KubernetesApi;

/** Connects to the API servers of one hosted cluster, each of which may be slow, silent or malicious. */
export function hostedConnector(
  { ca }: Pick<HostedTarget, 'ca'>,
  { onRequest, onBytes, open = dialApi, room }: ConnectOptions,
): ConnectHosted {
  const limits = { deadlineMs, maxBytes: longestAnswerBytes, values, ...room };
  return (address, { certificate: cert, key }, how) =>
    open(
      { server: `https://${formatEndpoint(address)}`, ca, cert, key, ...how },
      { ...limits, ...definedOnly({ onRequest, onBytes }) },
    );
}
