import { ApiObject, type ApiObjectProps } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { TlsRoute } from '../../../imports/gateway.networking.k8s.io.ts';
import {
  IngressRouteTcp,
  type IngressRouteTcpProps,
  IngressRouteTcpSpecRoutesServicesPort as Port,
} from '../../../imports/traefik.io.ts';
import { exposureOf, type Gateway, type IngressExposure } from '../../api/exposure-spec.ts';
import { Gateway as GatewayResource, groupOf } from '../../api/resources.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import type { Facts } from '../../cluster/facts.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';

/** The route of one host name of a shared entry to a port of the API server's Service. */
interface HostRoute {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> };
  readonly host: string;
  readonly service: { readonly name: string; readonly port: number };
}

/**
 * The objects that route the host names of a shared entry to this control plane; none for exposure strategies with
 * their own address.
 */
export class Routes extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { cluster, facts }: { readonly cluster: HostedCluster; readonly facts: Facts },
  ) {
    super(scope, id);
    const names = namesOf(cluster.name);
    const exposure = exposureOf(cluster.spec);
    const { gatewayListener: listener, tlsRouteVersion: version } = facts;
    for (const { to, host, port } of routedHosts(facts)) {
      const route: HostRoute = {
        metadata: {
          name: names.routes[to],
          namespace: cluster.namespace,
          labels: objectLabels(cluster.name, 'api-server'),
        },
        host,
        service: { name: names.apiService, port },
      };
      if (exposure.kind === 'gateway' && listener !== undefined && version !== undefined) {
        new ApiObject(this, to, tlsRoute(route, { gateway: exposure.gateway, listener, version }));
      }
      if (exposure.kind === 'ingress' && exposure.ingress.deploy) {
        const { controller } = exposure.ingress;
        if (controller === 'traefik') new IngressRouteTcp(this, to, ingressRouteTcp(route, exposure.ingress));
        else new k8s.KubeIngress(this, to, ingressWithPassthrough(route, controller, exposure.ingress));
      }
    }
  }
}

/** Every host name that needs a route; none before the endpoints are known. Routers compare names in lower case. */
function routedHosts({ endpoint, konnectivityEndpoint, tunnelEndpoint }: Facts) {
  const all = [
    { to: 'api', port: ports.api, at: endpoint },
    { to: 'konnectivity', port: ports.konnectivityAgent, at: konnectivityEndpoint },
    { to: 'tunnel', port: ports.tunnel, at: tunnelEndpoint },
  ] as const;
  return all.flatMap(({ to, port, at }) => (at ? [{ to, port, host: at.host.toLowerCase() }] : []));
}

interface Attachment {
  readonly gateway: Gateway;
  /** Name of the Gateway's listener. Without it routes attach to every listener, and Cilium makes duplicates. */
  readonly listener: string;
  /** Version of TLSRoute that the management cluster serves. */
  readonly version: string;
}

/** By which a Gateway passes the connections of a host name on. One for each name, because a TLSRoute has one rule. */
function tlsRoute({ metadata, host, service }: HostRoute, { gateway, listener, version }: Attachment): ApiObjectProps {
  const group = groupOf(GatewayResource);
  const { namespace, name } = gateway;
  const route = TlsRoute.manifest({
    metadata,
    spec: {
      parentRefs: [{ group, kind: GatewayResource.kind, namespace, name, sectionName: listener }],
      hostnames: [host],
      rules: [{ backendRefs: [{ group: '', kind: 'Service', ...service, weight: 1 }] }],
    },
  });
  return { ...route, apiVersion: `${group}/${version}` };
}

/** The entry point for TLS in Traefik's chart and documentation. */
const entryPoint = 'websecure';

/** Traefik's own kind of route: its Ingresses cannot pass TLS through. */
function ingressRouteTcp(
  { metadata, host, service: { name, port } }: HostRoute,
  { annotations }: IngressExposure,
): IngressRouteTcpProps {
  return {
    metadata: { ...metadata, ...definedOnly({ annotations }) },
    spec: {
      entryPoints: [entryPoint],
      routes: [{ match: `HostSNI(\`${host}\`)`, services: [{ name, port: Port.fromNumber(port) }] }],
      tls: { passthrough: true },
    },
  };
}

/**
 * The annotation with which each controller passes TLS through. Without it the controller would terminate TLS, and
 * clients could not authenticate.
 */
const passthroughAnnotations: Readonly<Record<Exclude<IngressExposure['controller'], 'traefik'>, string>> = {
  haproxy: 'haproxy.org/ssl-passthrough',
  'haproxy-ingress': 'haproxy-ingress.github.io/ssl-passthrough',
  nginx: 'nginx.ingress.kubernetes.io/ssl-passthrough',
};

/** For controllers that pass TLS through by annotation, over which the annotations of the user take precedence. */
function ingressWithPassthrough(
  { metadata, host, service: { name, port } }: HostRoute,
  controller: keyof typeof passthroughAnnotations,
  { className, annotations }: IngressExposure,
): k8s.KubeIngressProps {
  const backend = { service: { name, port: { number: port } } };
  return {
    metadata: { ...metadata, annotations: { [passthroughAnnotations[controller]]: 'true', ...annotations } },
    spec: {
      ...definedOnly({ ingressClassName: className }),
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  };
}
