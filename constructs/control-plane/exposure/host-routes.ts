import type { Facts } from '../../cluster/facts.ts';
import { ports } from '../../cluster/ports.ts';

/** One host name of a shared entry, and the port of the API server's Service to which it leads. */
export interface HostRoute {
  readonly to: 'api' | 'konnectivity' | 'tunnel';
  readonly host: string;
  readonly servicePort: number;
}

/** Every host name that needs a route; none before the endpoints are known. Routers compare names in lower case. */
export function hostRoutesOf(facts: Facts): HostRoute[] {
  const hostRoutes: [HostRoute['to'], number, { readonly host: string } | undefined][] = [
    ['api', ports.api, facts.endpoint],
    ['konnectivity', ports.konnectivityAgent, facts.konnectivityEndpoint],
    ['tunnel', ports.tunnel, facts.tunnelEndpoint],
  ];
  return hostRoutes.flatMap(([to, servicePort, endpoint]) =>
    endpoint ? [{ to, host: endpoint.host.toLowerCase(), servicePort }] : [],
  );
}
