import type { HetznerAccess } from './cluster.ts';
import type { HetznerValues } from './values.ts';

type ControlPlane = HetznerValues['controlPlane'];
type Ingress = NonNullable<ControlPlane['ingress']>;

/** TLS port of the ingress controller. */
const ingressPort = 443;

/** A way to reach the API server: how it follows from the values. */
export const accessModes = {
  ingress: ({ apiHost, konnectivityHost, controller, className }: Ingress): HetznerAccess => ({
    exposure: { ingress: { apiHost, konnectivityHost, controller, className, port: ingressPort } },
    endpoint: { host: apiHost, port: ingressPort },
  }),
  nodePort: (address: string, { apiPort: port, konnectivityPort }: ControlPlane['service']): HetznerAccess => ({
    exposure: { nodePort: { address, port, konnectivityPort } },
    endpoint: { host: address, port },
  }),
  loadBalancer: ({ annotations }: ControlPlane['service']): HetznerAccess => ({
    exposure: { loadBalancer: { annotations } },
  }),
};

/** The way that valid values choose. */
export function accessOf({ ingress, service }: ControlPlane): HetznerAccess {
  if (ingress) return accessModes.ingress(ingress);
  if (service.type === 'NodePort') return accessModes.nodePort(service.externalAddress ?? '', service);
  return accessModes.loadBalancer(service);
}
