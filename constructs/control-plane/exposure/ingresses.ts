import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { IngressExposure } from '../../api/exposure-spec.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import type { HostRoute } from './host-routes.ts';

/**
 * The annotation with which each controller passes TLS through. Without it the controller would terminate TLS, and
 * clients could not authenticate.
 */
const passthroughAnnotations: Readonly<Record<Exclude<IngressExposure['controller'], 'traefik'>, string>> = {
  haproxy: 'haproxy.org/ssl-passthrough',
  'haproxy-ingress': 'haproxy-ingress.github.io/ssl-passthrough',
  nginx: 'nginx.ingress.kubernetes.io/ssl-passthrough',
};

export interface IngressesProps {
  readonly cluster: HostedCluster;
  readonly hostRoutes: readonly HostRoute[];
  readonly controller: keyof typeof passthroughAnnotations;
  /** @default the class that is the default of the management cluster */
  readonly className?: string | undefined;
  /** They take precedence over the annotation for TLS passthrough. */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Ingresses for controllers that enable TLS passthrough by annotation. */
export class Ingresses extends Construct {
  constructor(scope: Construct, id: string, props: IngressesProps) {
    super(scope, id);
    const { cluster, hostRoutes, controller, className, annotations } = props;
    const names = namesOf(cluster.name);
    for (const { to, host, servicePort } of hostRoutes) {
      new k8s.KubeIngress(this, to, {
        metadata: {
          name: names.routes[to],
          namespace: cluster.namespace,
          labels: objectLabels(cluster.name, 'api-server'),
          annotations: { [passthroughAnnotations[controller]]: 'true', ...annotations },
        },
        spec: {
          ...definedOnly({ ingressClassName: className }),
          rules: [
            {
              host,
              http: {
                paths: [
                  {
                    path: '/',
                    pathType: 'Prefix',
                    backend: { service: { name: names.apiService, port: { number: servicePort } } },
                  },
                ],
              },
            },
          ],
        },
      });
    }
  }
}
