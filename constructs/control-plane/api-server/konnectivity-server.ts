import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { konnectivityAudience, serviceAccounts } from '../../cluster/workload-identities.ts';
import { apiServerPaths, egressSelectorFile, konnectivitySocket } from './flags.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { container, healthzProbes, projected } from '../../pod/component.ts';
import { exposureStrategy } from '../exposure/exposure.ts';
import { type Flag, renderFlags } from '../../pod/flags.ts';
import { componentKubeconfig, kubeconfigFiles } from '../controllers/kubeconfig.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { ports } from '../../cluster/ports.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { defaultsOf, imageReference } from '../../cluster/versions.ts';

const paths = { pki: '/etc/konnectivity/pki', kubeconfig: '/etc/konnectivity/kubeconfig' } as const;

/** Every flag that the operator sets on the konnectivity server, sorted, with its reason. */
export const konnectivityServerFlags: readonly Flag[] = [
  ['admin-port', String(ports.konnectivityAdmin), ''],
  ['agent-namespace', 'kube-system', ''],
  ['agent-port', String(ports.konnectivityAgent), ''],
  ['agent-service-account', serviceAccounts.konnectivityAgent, ''],
  ['authentication-audience', konnectivityAudience, "the audience of the agents' tokens"],
  ['cluster-cert', `${paths.pki}/tls.crt`, ''],
  ['cluster-key', `${paths.pki}/tls.key`, ''],
  ['delete-existing-uds-file', 'true', 'a restarted container finds the socket of the previous one'],
  ['enable-lease-controller', 'true', 'agents read the number of servers, so that replicas can change'],
  ['health-port', String(ports.konnectivityHealth), ''],
  ['keepalive-time', '30s', 'the server removes an agent whose node lost power; calls through it would hang'],
  ['kubeconfig', `${paths.kubeconfig}/${kubeconfigFiles.config}`, "reviews the agents' tokens"],
  ['mode', 'grpc', ''],
  ['server-port', '0', 'the API server in the same pod uses the socket'],
  ['uds-name', konnectivitySocket, ''],
];

/** ConfigMap with the API server's egress selector and the konnectivity server's kubeconfig. */
export class KonnectivityConfig extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    new k8s.KubeConfigMap(this, 'config', {
      metadata: {
        name: namesOf(cluster.name).konnectivity,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'api-server'),
      },
      data: {
        [egressSelectorFile]: Yaml.stringify({
          apiVersion: 'apiserver.k8s.io/v1beta1',
          kind: 'EgressSelectorConfiguration',
          egressSelections: [
            {
              name: 'cluster',
              connection: { proxyProtocol: 'GRPC', transport: { uds: { udsName: konnectivitySocket } } },
            },
          ],
        }),
        [kubeconfigFiles.config]: componentKubeconfig(
          cluster.name,
          'konnectivity-server',
          `https://localhost:${exposureStrategy(cluster.spec).securePort}`,
        ),
      },
    });
  }
}

/**
 * The konnectivity server next to an API server. Agents of the hosted cluster connect to it, and the API server
 * connects to nodes through it.
 *
 * It is a sidecar, which the kubelet ends after the API server. An API server that shuts down still answers for some seconds; without the
 * konnectivity server its calls to nodes would fail, or last until they time out, which would delay the shutdown as well.
 */
export function konnectivityServer(cluster: HostedCluster): KonnectivityServer {
  const settings = cluster.spec.deployment?.apiServer?.konnectivity;
  const isSidecar = rendersWith(cluster, 'endsKonnectivityLast');
  const allProbes = healthzProbes('k-health', isSidecar ? 2 : 5);
  const { readinessProbe, livenessProbe } = allProbes;
  const server = container({
    name: 'konnectivity-server',
    image: imageReference(
      cluster.spec,
      {
        registry: 'registry.k8s.io',
        repository: 'kas-network-proxy/proxy-server',
        tag: `v${defaultsOf(cluster).konnectivity}`,
      },
      settings?.image,
    ),
    command: ['/proxy-server'],
    args: renderFlags(konnectivityServerFlags, settings?.args),
    ports: {
      konnectivity: ports.konnectivityAgent,
      'k-admin': ports.konnectivityAdmin,
      'k-health': ports.konnectivityHealth,
    },
    // The API server would wait for the start-up probe of a sidecar, and does not need the konnectivity server to start.
    probes: isSidecar ? { readinessProbe, livenessProbe } : allProbes,
    requests: { cpu: '10m', memory: '64Mi' },
    settings,
    volumeMounts: [
      { name: 'konnectivity-sockets', mountPath: apiServerPaths.konnectivitySockets },
      { name: 'konnectivity-pki', mountPath: paths.pki, readOnly: true },
      { name: 'konnectivity-kubeconfig', mountPath: paths.kubeconfig, readOnly: true },
    ],
  });
  return isSidecar
    ? { initContainers: [{ ...server, restartPolicy: 'Always' }], containers: [] }
    : { initContainers: [], containers: [server] };
}

/** Where the container of the konnectivity server belongs in its pod. */
interface KonnectivityServer {
  readonly initContainers: readonly k8s.Container[];
  readonly containers: readonly k8s.Container[];
}

/** The volumes of {@link konnectivityServer}, some of which it shares with the API server. */
export function konnectivityVolumes(cluster: HostedCluster): k8s.Volume[] {
  const { secrets, konnectivity } = namesOf(cluster.name);
  return [
    { name: 'konnectivity-sockets', emptyDir: { medium: 'Memory' } },
    projected('konnectivity-pki', [
      { secret: secrets.konnectivityServer, items: { 'tls.crt': 'tls.crt', 'tls.key': 'tls.key' } },
    ]),
    projected('konnectivity-kubeconfig', [
      { configMap: konnectivity, items: { [kubeconfigFiles.config]: kubeconfigFiles.config } },
      { secret: secrets.clusterCA, items: { [kubeconfigFiles.ca]: 'tls.crt' } },
      {
        secret: secrets.konnectivityClient,
        items: { [kubeconfigFiles.certificate]: 'tls.crt', [kubeconfigFiles.key]: 'tls.key' },
      },
    ]),
  ];
}
