import { Construct } from 'constructs';
import { IngressRouteTcp, IngressRouteTcpSpecRoutesServicesPort as Port } from '../../../imports/traefik.io.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import type { HostRoute } from './host-routes.ts';

export interface IngressRouteTCPsProps {
  readonly cluster: HostedCluster;
  readonly hostRoutes: readonly HostRoute[];
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** The entry point for TLS in Traefik's chart and documentation. */
const entryPoint = 'websecure';

/** Traefik's own kind of route: its Ingresses cannot pass TLS through. */
export class IngressRouteTCPs extends Construct {
  constructor(scope: Construct, id: string, { cluster, hostRoutes, annotations }: IngressRouteTCPsProps) {
    super(scope, id);
    const names = namesOf(cluster.name);
    for (const { to, host, servicePort } of hostRoutes) {
      const services = [{ name: names.apiService, port: Port.fromNumber(servicePort) }];
      new IngressRouteTcp(this, to, {
        metadata: {
          name: names.routes[to],
          namespace: cluster.namespace,
          labels: objectLabels(cluster.name, 'api-server'),
          ...definedOnly({ annotations }),
        },
        spec: {
          entryPoints: [entryPoint],
          routes: [{ match: `HostSNI(\`${host}\`)`, services }],
          tls: { passthrough: true },
        },
      });
    }
  }
}
