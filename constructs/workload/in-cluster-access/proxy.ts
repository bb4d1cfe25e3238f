import { isIP } from 'node:net';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { container, type Probes } from '../../pod/component.ts';
import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import { haproxyConfig, haproxyFiles, haproxyImage, haproxyScript } from '../../pod/haproxy.ts';
import { withAdditions } from '../../pod/overlay.ts';
import { ports } from '../../cluster/ports.ts';
import { unprivileged } from '../../pod/unprivileged.ts';
import { imageReference } from '../../cluster/versions.ts';

const name = 'hosted-control-plane-proxy';
/** Namespace of the Service `kubernetes`, and therefore of all pods that it can select. */
const namespace = 'default';
const paths = { config: '/etc/proxy/config', ca: '/etc/proxy/authority' } as const;
const caFile = 'ca.crt';
/** Kubernetes creates it in every namespace and keeps it current. */
const caConfigMap = 'kube-root-ca.crt';

/** The labels that the Service `kubernetes` selects. */
export const proxyLabels = { 'app.kubernetes.io/name': name } as const;

/** The endpoint to which proxies connect. */
export interface ProxyTarget {
  readonly endpoint: Endpoint;
  /** Whether an outer TLS session carries the host name, by which a gateway routes. */
  readonly isTunnel: boolean;
}

export interface ProxyProps {
  readonly target: ProxyTarget;
  /** Port of the proxy on every node: the target port of the Service `kubernetes`. */
  readonly port: number;
  readonly spec: Pick<HostedControlPlaneSpec, 'proxy' | 'imageRegistry'>;
  /** The preferred IP family when a host has addresses of both. */
  readonly ipFamily: 'ipv4' | 'ipv6';
}

/**
 * A proxy to the API server on every node, for the Service `kubernetes`. It depends on nothing that needs the API: no
 * cluster DNS, no pod network, no token. It needs no key, because its traffic is encrypted end to end.
 */
export class Proxy extends Construct {
  constructor(scope: Construct, id: string, { target, port, spec, ipFamily }: ProxyProps) {
    super(scope, id);
    const metadata = { name, namespace };
    new k8s.KubeConfigMap(this, 'config', {
      metadata,
      data: {
        [haproxyFiles.config]: haproxyConfig({
          connections: 4_000,
          health: `127.0.0.1:${ports.tunnelHealth}`,
          sections: [
            // Names are resolved as on the node. An answer stays valid until a different one arrives.
            ['resolvers node', 'parse-resolv-conf', 'accepted_payload_size 4096', ...holds],
            ['frontend api-server', `bind "\${HOST_IP}:${port}"`, 'default_backend endpoint'],
            ['backend endpoint', 'retries 3', 'option redispatch 1', server(target, ipFamily)],
          ],
        }),
        [haproxyFiles.script]: haproxyScript({
          config: `${paths.config}/${haproxyFiles.config}`,
          watched: target.isTunnel ? [`${paths.ca}/${caFile}`] : [],
          serveSeconds: 0,
          drainSeconds: 5,
        }),
      },
    });
    new k8s.KubeDaemonSet(this, 'proxy', {
      metadata: { ...metadata, labels: proxyLabels },
      spec: {
        selector: { matchLabels: proxyLabels },
        // The old proxy stops to listen only after the new one has started to: the kernel allows both to share the
        // port.
        updateStrategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: k8s.IntOrString.fromString('10%'), maxUnavailable: k8s.IntOrString.fromNumber(0) },
        },
        template: withAdditions({ metadata: { labels: proxyLabels }, spec: podSpec(target, spec) }, [spec.proxy]),
      },
    });
  }
}

/** One server for each address that a host may have, so that HAProxy can skip a broken one. */
function server({ endpoint, isTunnel }: ProxyTarget, ipFamily: string): string {
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

function podSpec({ isTunnel }: ProxyTarget, spec: ProxyProps['spec']): k8s.PodSpec {
  const ca = { name: 'authority', mountPath: paths.ca, readOnly: true };
  return {
    hostNetwork: true,
    dnsPolicy: 'Default',
    priorityClassName: 'system-node-critical',
    // Pods need the API on every node, whatever its purpose.
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: 15,
    securityContext: unprivileged,
    containers: [
      container({
        name: 'proxy',
        image: imageReference(spec, haproxyImage, spec.proxy.image),
        command: ['sh', `${paths.config}/${haproxyFiles.script}`],
        args: [],
        env: [{ name: 'HOST_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
        // None, although it listens: only one pod can have a port that is declared on the host network.
        ports: {},
        probes: hostProbes,
        requests: { cpu: '10m', memory: '32Mi' },
        settings: spec.proxy,
        volumeMounts: [{ name: 'config', mountPath: paths.config, readOnly: true }, ...(isTunnel ? [ca] : [])],
      }),
    ],
    volumes: [
      { name: 'config', configMap: { name } },
      ...(isTunnel
        ? [
            {
              name: ca.name,
              configMap: { name: caConfigMap, items: [{ key: caFile, path: caFile }] },
            },
          ]
        : []),
    ],
  };
}

const healthPage: k8s.HttpGetAction = {
  host: '127.0.0.1',
  path: '/healthz',
  port: k8s.IntOrString.fromNumber(ports.tunnelHealth),
};
const hostProbes: Probes = {
  startupProbe: { httpGet: healthPage, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 },
  readinessProbe: { httpGet: healthPage, periodSeconds: 5, timeoutSeconds: 5, failureThreshold: 3 },
  livenessProbe: { httpGet: healthPage, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
};
