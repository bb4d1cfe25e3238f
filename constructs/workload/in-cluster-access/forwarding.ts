import { isIP } from 'node:net';
import type { k8s } from 'cdk8s-plus-30';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { container, type ContainerProps } from '../../pod/component.ts';
import { imageReference } from '../../cluster/versions.ts';
import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import {
  haproxyConfig,
  haproxyFiles,
  haproxyImage,
  haproxyScript,
  type HaproxyScriptOptions,
} from '../../pod/haproxy.ts';

/** Namespace of the Service `kubernetes`, and therefore of all pods that it can select. */
export const proxyNamespace = 'default';

const paths = { config: '/etc/proxy/config', ca: '/etc/proxy/authority' } as const;
const caFile = 'ca.crt';
/** Kubernetes creates it in every namespace and keeps it current. */
const caConfigMap = 'kube-root-ca.crt';

/** `terminationGracePeriodSeconds` of the pods of these proxies. */
export const proxyGraceSeconds = 15;

/** The endpoint to which proxies connect. */
export interface ProxyTarget {
  readonly endpoint: Endpoint;
  /** Whether an outer TLS session carries the host name, by which a gateway routes. */
  readonly isTunnel: boolean;
}

/** The preferred IP family when a host has addresses of both. */
export type IpFamily = 'ipv4' | 'ipv6';

export interface ForwardingProps {
  readonly target: ProxyTarget;
  readonly ipFamily: IpFamily;
  /** `address:port` on which it accepts connections. */
  readonly bind: string;
  /** `address:port` of its health endpoint. */
  readonly health: string;
  /** Connections that it can hold at a time. */
  readonly connections: number;
  /** How long it continues to accept connections when it is stopped. */
  readonly serveSeconds: HaproxyScriptOptions['serveSeconds'];
}

/**
 * The files of a proxy that passes connections on to the API server. It needs no key, because its traffic is encrypted
 * end to end.
 */
export function proxyFiles({ target, ipFamily, bind, health, connections, serveSeconds }: ForwardingProps) {
  return {
    [haproxyFiles.config]: haproxyConfig({
      connections,
      health,
      sections: [
        // Names are resolved as on the node. An answer stays valid until a different one arrives.
        ['resolvers node', 'parse-resolv-conf', 'accepted_payload_size 4096', ...holds],
        ['frontend api-server', `bind "${bind}"`, 'default_backend endpoint'],
        ['backend endpoint', 'retries 3', 'option redispatch 1', server(target, ipFamily)],
      ],
    }),
    [haproxyFiles.script]: haproxyScript({
      config: `${paths.config}/${haproxyFiles.config}`,
      watched: target.isTunnel ? [`${paths.ca}/${caFile}`] : [],
      serveSeconds,
      graceSeconds: proxyGraceSeconds,
    }),
  };
}

/** The volumes of a proxy, and where its container mounts them. @param config name of the ConfigMap with its files */
export function proxyVolumes(
  config: string,
  { isTunnel }: ProxyTarget,
): { readonly volumes: k8s.Volume[]; readonly volumeMounts: k8s.VolumeMount[] } {
  const caVolume = 'authority';
  const items = [{ key: caFile, path: caFile }];
  return {
    volumes: [
      { name: 'config', configMap: { name: config } },
      ...(isTunnel ? [{ name: caVolume, configMap: { name: caConfigMap, items } }] : []),
    ],
    volumeMounts: [
      { name: 'config', mountPath: paths.config, readOnly: true },
      ...(isTunnel ? [{ name: caVolume, mountPath: paths.ca, readOnly: true }] : []),
    ],
  };
}

/** The container of a proxy, without its probes. @param address the variable that {@link ForwardingProps.bind} names, and its field */
export function proxyContainer(
  spec: Pick<HostedControlPlaneSpec, 'proxy' | 'imageRegistry'>,
  address: readonly [variable: string, fieldPath: string],
  more: Pick<ContainerProps, 'ports' | 'probes' | 'volumeMounts'>,
): k8s.Container {
  const [name, fieldPath] = address;
  return container({
    name: 'proxy',
    image: imageReference(spec, haproxyImage, spec.proxy.image),
    command: ['sh', `${paths.config}/${haproxyFiles.script}`],
    args: [],
    env: [{ name, valueFrom: { fieldRef: { fieldPath } } }],
    requests: { cpu: '10m', memory: '32Mi' },
    settings: spec.proxy,
    ...more,
  });
}

/** One server for each address that a host may have, so that HAProxy can skip a broken one. */
function server({ endpoint, isTunnel }: ProxyTarget, ipFamily: IpFamily): string {
  const { host } = endpoint;
  const address = isIP(host)
    ? `server endpoint ${formatEndpoint(endpoint)}`
    : `server-template endpoint 4 ${formatEndpoint(endpoint)} resolvers node init-addr libc,none resolve-prefer ${ipFamily}`;
  if (!isTunnel) return address;
  const ca = `${paths.ca}/${caFile}`;
  return `${address} ssl sni str(${host}) verify required verifyhost ${host} ca-file ${ca} ssl-min-ver TLSv1.3`;
}

/** The longest time that HAProxy accepts: an outdated answer is better than none. */
const longest = '24d';
const holds = [
  'hold valid 30s',
  'hold obsolete 30s',
  ...['nx', 'other', 'refused', 'timeout'].map((answer) => `hold ${answer} ${longest}`),
];
