import { KubeClient, type KubernetesApi } from '../../kube/client.ts';
import type { KubeClientOptions } from '../../kube/client-options.ts';
import { connectionFor, type ConnectionTarget } from '../../kube/config.ts';

/** Opens a client of one API server. */
export type OpenApi = (target: ConnectionTarget, options: KubeClientOptions) => KubernetesApi;

/** A client that connects with its first request. */
export const dialApi: OpenApi = (target, options) => new KubeClient(connectionFor(target), options);
