import { Construct } from 'constructs';
import { exposureOf } from '../../api/exposure-spec.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import type { Facts } from '../../cluster/facts.ts';
import { IngressRouteTCPs } from './ingress-route-tcps.ts';
import { Ingresses } from './ingresses.ts';
import { hostRoutesOf } from './host-routes.ts';
import { TlsRoutes } from './tls-routes.ts';

export interface RoutesProps {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
}

/**
 * The objects that route the host names of a shared entry to this control plane; none for exposure strategies with
 * their own address.
 */
export class Routes extends Construct {
  constructor(scope: Construct, id: string, { cluster, facts }: RoutesProps) {
    super(scope, id);
    const exposure = exposureOf(cluster.spec);
    const hostRoutes = hostRoutesOf(facts);

    const { gatewayListener: listener, tlsRouteVersion: version } = facts;
    if (exposure.kind === 'gateway' && listener !== undefined && version !== undefined) {
      new TlsRoutes(this, 'tls-routes', { cluster, hostRoutes, gateway: exposure.gateway, listener, version });
    }

    if (exposure.kind === 'ingress' && exposure.ingress.deploy) {
      const { controller, className, annotations } = exposure.ingress;
      if (controller === 'traefik')
        new IngressRouteTCPs(this, 'ingress-route-tcps', { cluster, hostRoutes, annotations });
      else new Ingresses(this, 'ingresses', { cluster, hostRoutes, controller, className, annotations });
    }
  }
}
