import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { objectLabels, selectorLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';

/**
 * The Service in front of the API servers. It exists before any pod, because the endpoint and the certificates depend
 * on it.
 */
export class ApiServerService extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    const { service } = exposureStrategy(cluster.spec);
    const port = (name: string, number: number, target: string, nodePort?: number): k8s.ServicePort => ({
      name,
      port: number,
      targetPort: k8s.IntOrString.fromString(target),
      protocol: 'TCP',
      ...definedOnly({ nodePort }),
    });
    new k8s.KubeService(this, 'service', {
      metadata: {
        name: namesOf(cluster.name).apiService,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'api-server'),
        ...definedOnly({ annotations: service.annotations }),
      },
      spec: {
        type: service.type,
        selector: selectorLabels(cluster.name, 'api-server'),
        ...service.spec,
        ports: [
          ...Object.entries(service.apiPorts).map(([name, number]) =>
            port(name, number, 'api', name === 'api' ? service.apiNodePort : undefined),
          ),
          port('konnectivity', ports.konnectivityAgent, 'konnectivity', service.konnectivityNodePort),
          ...(service.tunnelPort === undefined ? [] : [port('tunnel', service.tunnelPort, 'tunnel')]),
        ],
      },
    });
  }
}
