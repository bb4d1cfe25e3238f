import type { Endpoint } from '../../cluster/facts.ts';

/** A variable of a container's environment. */
export interface Variable {
  readonly name: string;
  readonly value: string;
}

/** Where clients in pods find the API server: what every Kubernetes client library reads. */
export function apiServerVariables({ host, port }: Endpoint): Variable[] {
  return [
    { name: 'KUBERNETES_SERVICE_HOST', value: host },
    { name: 'KUBERNETES_SERVICE_PORT', value: String(port) },
    { name: 'KUBERNETES_SERVICE_PORT_HTTPS', value: String(port) },
  ];
}
