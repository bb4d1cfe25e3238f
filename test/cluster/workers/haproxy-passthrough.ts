import { Deployment, Ingress, Service } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { until } from '../../support/until.ts';
import { clientOf } from '../../tools/testbed/access.ts';
import { gatewayAddress } from '../../tools/testbed/gateway-address.ts';
import { haproxyImage } from '../../tools/testbed/haproxy-image.ts';
import type { Instance } from '../../tools/testbed/instance.ts';

interface IngressObject extends KubeObject {
  readonly spec: {
    readonly rules: readonly {
      readonly host: string;
      readonly http: { readonly paths: readonly { readonly backend: { readonly service: BackendService } }[] };
    }[];
  };
}

interface BackendService {
  readonly name: string;
  readonly port: { readonly number: number };
}

interface ServiceObject extends KubeObject {
  readonly spec: { readonly clusterIP: string };
}

/** The annotation with which HAProxy's own controller passes TLS through. */
const passthrough = 'haproxy.org/ssl-passthrough';
const name = 'haproxy';
const labels = { app: name };
const manager = { fieldManager: 'test', force: true };

/** Port of HAProxy at the address to which the names of hosted clusters resolve, beside the Gateway's. */
export const haproxyPort = 8443;

/**
 * HAProxy itself, with the configuration that its ingress controller writes for the Ingresses of a namespace: one frontend that
 * reads the server name of a TLS connection, and a backend for each. It starts as soon as both Ingresses of a control plane exist.
 */
export async function passThroughHAProxy(instance: Instance, namespace: string): Promise<void> {
  const client = await clientOf(instance);
  try {
    const ingresses = await bothIngresses(client, namespace);
    const files = await configuration(client, ingresses);
    const metadata = { namespace, name };
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: files } as KubeObject, manager);
    await client.apply(deployment(namespace), manager);
    await client.apply(service(namespace, gatewayAddress(instance)), manager);
  } finally {
    await client.connection.close();
  }
}

function bothIngresses(client: KubeClient, namespace: string): Promise<IngressObject[]> {
  return until('both Ingresses of the control plane', async () => {
    const { items } = await client.list<IngressObject>(Ingress, { namespace }).catch(() => ({ items: [] }));
    const ours = items.filter(({ metadata }) => metadata.annotations?.[passthrough] === 'true');
    return ours.length === 2 && ours;
  });
}

async function configuration(client: KubeClient, ingresses: readonly IngressObject[]): Promise<Record<string, string>> {
  const backends = await Promise.all(
    ingresses.map(async ({ metadata: { namespace = '' }, spec: { rules } }) => {
      const [rule] = rules;
      const to = rule?.http.paths[0]?.backend.service;
      if (!rule || !to) throw new Error('an Ingress has no rule');
      const { spec } = await client.get<ServiceObject>(Service, { namespace, name: to.name });
      const backend = `${namespace}_${to.name}_${to.port.number}`;
      const text = `backend ${backend}\n  mode tcp\n  server SRV_1 ${spec.clusterIP}:${to.port.number}\n`;
      return { line: `${rule.host} ${backend}\n`, text };
    }),
  );
  const global = `global
  maxconn 1000
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend ssl
  bind :${haproxyPort}
  tcp-request inspect-delay 5000
  tcp-request content accept if { req_ssl_hello_type 1 }
  use_backend %[req_ssl_sni,lower,map(/usr/local/etc/haproxy/sni.map)]
`;
  return {
    'haproxy.cfg': [global, ...backends.map(({ text }) => text)].join('\n'),
    'sni.map': backends.map(({ line }) => line).join(''),
  };
}

function deployment(namespace: string): KubeObject {
  const container = {
    name,
    image: haproxyImage,
    ports: [{ containerPort: haproxyPort, protocol: 'TCP' }],
    volumeMounts: [{ name: 'configuration', mountPath: '/usr/local/etc/haproxy' }],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    containers: [container],
    volumes: [{ name: 'configuration', configMap: { name } }],
    securityContext: { runAsNonRoot: true, runAsUser: 99, seccompProfile: { type: 'RuntimeDefault' } },
  };
  const { apiVersion, kind } = Deployment;
  const template = { metadata: { labels }, spec };
  return {
    apiVersion,
    kind,
    metadata: { namespace, name },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  } as KubeObject;
}

function service(namespace: string, address: string): KubeObject {
  const ports = [{ name: 'tls', port: haproxyPort, protocol: 'TCP', targetPort: haproxyPort }];
  const { apiVersion, kind } = Service;
  const spec = { type: 'LoadBalancer', loadBalancerIP: address, selector: labels, ports };
  return { apiVersion, kind, metadata: { namespace, name }, spec } as KubeObject;
}
