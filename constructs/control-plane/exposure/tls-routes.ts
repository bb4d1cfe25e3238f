import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { TlsRoute } from '../../../imports/gateway.networking.k8s.io.ts';
import type { Gateway } from '../../api/exposure-spec.ts';
import { Gateway as GatewayResource, groupOf } from '../../api/resources.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import type { HostRoute } from './host-routes.ts';

export interface TlsRoutesProps {
  readonly cluster: HostedCluster;
  readonly hostRoutes: readonly HostRoute[];
  readonly gateway: Gateway;
  /** Name of the Gateway's listener. Without it routes attach to every listener, and Cilium makes duplicates. */
  readonly listener: string;
  /** Version of TLSRoute that the management cluster serves. */
  readonly version: string;
}

/** TLSRoutes, by which a Gateway passes the connections of each host name on. One each, because one has one rule. */
export class TlsRoutes extends Construct {
  constructor(scope: Construct, id: string, { cluster, hostRoutes, gateway, listener, version }: TlsRoutesProps) {
    super(scope, id);
    const names = namesOf(cluster.name);
    const group = groupOf(GatewayResource);
    for (const { to, host, servicePort } of hostRoutes) {
      const route = TlsRoute.manifest({
        metadata: {
          name: names.routes[to],
          namespace: cluster.namespace,
          labels: objectLabels(cluster.name, 'api-server'),
        },
        spec: {
          parentRefs: [
            {
              group,
              kind: GatewayResource.kind,
              namespace: gateway.namespace,
              name: gateway.name,
              sectionName: listener,
            },
          ],
          hostnames: [host],
          rules: [
            { backendRefs: [{ group: '', kind: 'Service', name: names.apiService, port: servicePort, weight: 1 }] },
          ],
        },
      });
      new ApiObject(this, to, { ...route, apiVersion: `${group}/${version}` });
    }
  }
}
