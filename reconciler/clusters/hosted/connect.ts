import { type Endpoint, formatEndpoint } from '../../../constructs/cluster/facts.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { ConnectionTarget } from '../../kube/config.ts';
import type { RequestRecord } from '../../kube/request.ts';
import type { KeyPair } from '../../pki/issue.ts';
import { dialApi, type OpenApi } from './open-api.ts';
import type { HostedRoom } from './rooms.ts';
import type { HostedTarget } from './target.ts';

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

interface ConnectOptions {
  readonly room: HostedRoom;
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  readonly onBytes?: (() => void) | undefined;
  readonly open?: OpenApi | undefined;
}

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
