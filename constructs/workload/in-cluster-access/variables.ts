import type { Endpoint } from '../../cluster/facts.ts';

/** An environment variable of a container. */
export interface Variable {
  readonly name: string;
  readonly value: string;
}

/** The environment variables from which every Kubernetes client library reads the address of the API server. */
export function apiServerVariables({ host, port }: Endpoint): Variable[] {
  return [
    { name: 'KUBERNETES_SERVICE_HOST', value: host },
    { name: 'KUBERNETES_SERVICE_PORT', value: String(port) },
    { name: 'KUBERNETES_SERVICE_PORT_HTTPS', value: String(port) },
  ];
}
