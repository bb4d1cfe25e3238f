import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { container, probes, restartMetadata, oneMoreAtATime } from '../pod/component.ts';
import type { Endpoint } from '../cluster/facts.ts';
import { type Flag, renderFlags } from '../pod/flags.ts';
import { ports } from '../cluster/ports.ts';
import { rendersWith } from '../cluster/release-revisions.ts';
import { insideOf } from '../pod/no-proxy.ts';
import { withAdditions } from '../pod/overlay.ts';
import { restrictedPod } from '../pod/restricted-pod.ts';
import { defaultsOf, imageReference } from '../cluster/versions.ts';
import { AddOnBudget, addOnNamespace, addOnTolerations, type CountedAddOnProps, replicasFor } from './add-on.ts';
import { konnectivityAudience, serviceAccounts } from '../cluster/workload-identities.ts';
import { apiServerVariables } from './in-cluster-access/variables.ts';

const name = 'konnectivity-agent';
const labels = { 'k8s-app': name };
const token = { directory: '/var/run/secrets/tokens', file: 'konnectivity-agent-token' } as const;

/**
 * Every flag that the operator sets on the konnectivity agent, sorted, with its reason.
 *
 * @param address address of its health and admin endpoints on the node
 */
export function konnectivityAgentFlags({ host, port }: Endpoint, address: string): Flag[] {
  return [
    ['admin-bind-address', address, ''],
    ['admin-server-port', String(ports.konnectivityAdmin), ''],
    ['agent-id', '$(POD_NAME)', 'the server would treat two agents with one name as one, and use the older one'],
    ['ca-cert', '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt', ''],
    ['count-server-leases', 'true', 'connects to every server behind the address, by their number'],
    ['health-server-host', address, ''],
    ['health-server-port', String(ports.konnectivityHealth), ''],
    ['keepalive-time', '1m', 'detects vanished servers; servers reject less than 30s'],
    ['proxy-server-host', host, ''],
    ['proxy-server-port', String(port), ''],
    ['service-account-token-path', `${token.directory}/${token.file}`, ''],
    ['sync-interval', '250ms', 'a new API server reaches no node until an agent has connected to it'],
  ];
}

/** From the endpoint of the API server the agent reads the number of konnectivity servers. */
export interface KonnectivityAgentProps extends CountedAddOnProps {
  /** Endpoint to which the agent connects. */
  readonly konnectivityEndpoint: Endpoint;
}

/**
 * The agent connects to the konnectivity servers, and to nodes, pods and Services on their behalf. A few agents are
 * enough, because each reaches every node. With an agent per node, the load on the control plane would grow with the
 * cluster.
 */
export class KonnectivityAgent extends Construct {
  constructor(scope: Construct, id: string, props: KonnectivityAgentProps) {
    super(scope, id);
    const { cluster, nodes } = props;
    const settings = cluster.spec.konnectivityClient;
    const metadata = { name, namespace: addOnNamespace, labels };
    const replicas = replicasFor(settings.replicas, nodes);

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccounts.konnectivityAgent, namespace: addOnNamespace },
    });
    new k8s.KubeDeployment(this, 'deployment', {
      metadata,
      spec: {
        replicas,
        selector: { matchLabels: labels },
        // In a cluster with one node, both agents run on that node during a rollout. The old one serves until the new
        // one does.
        strategy: oneMoreAtATime,
        template: podTemplate(props, addressOf(podTemplate(props, ''))),
      },
    });

    new AddOnBudget(this, 'budget', { name, selector: labels, replicas });
  }
}

/** A separate loopback address for each revision, because the old and the new agent share the network of their node. */
function addressOf(revision: k8s.PodTemplateSpec): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(JSON.stringify(revision)).digest();
  // Other programs use 127.0.
  return `127.${1 + (a % 254)}.${b}.${1 + (c % 254)}`;
}

/**
 * Declared with its address, the port of the health endpoint keeps two agents of one revision off one node. The second one could
 * not bind it, and its probes would be answered by the first one, also while it hangs. The successor of an agent that is deleted
 * starts once that one has ended, and an agent whose node is drained waits for another node, or for the end of the drain.
 */
function healthPort(cluster: HostedCluster, address: string): Pick<k8s.Container, 'ports'> {
  if (!rendersWith(cluster, 'ownsHealthAddress')) return {};
  const port = ports.konnectivityHealth;
  return { ports: [{ name: 'health', containerPort: port, hostPort: port, hostIp: address, protocol: 'TCP' }] };
}

function podTemplate(props: KonnectivityAgentProps, address: string): k8s.PodTemplateSpec {
  const { cluster } = props;
  return withAdditions(
    { metadata: { labels, ...restartMetadata(props.startsWith) }, spec: podSpec(props, address) },
    [cluster.spec.konnectivityClient],
    { inside: insideOf(cluster) },
  );
}

function podSpec({ cluster, endpoint, konnectivityEndpoint }: KonnectivityAgentProps, address: string): k8s.PodSpec {
  const { konnectivityClient: settings } = cluster.spec;
  const defaults = { registry: 'registry.k8s.io', repository: 'kas-network-proxy/proxy-agent' };
  const pod = restrictedPod({
    selector: labels,
    spreadPerRevision: true,
    volumes: [
      {
        name: 'token',
        projected: {
          sources: [
            { serviceAccountToken: { audience: konnectivityAudience, expirationSeconds: 3600, path: token.file } },
          ],
        },
      },
    ],
    containers: [
      {
        ...container({
          name,
          image: imageReference(
            cluster.spec,
            { ...defaults, tag: `v${defaultsOf(cluster).konnectivity}` },
            settings.image,
          ),
          command: ['/proxy-agent'],
          args: renderFlags(konnectivityAgentFlags(konnectivityEndpoint, address), settings.args),
          env: [
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ...apiServerVariables(endpoint),
          ],
          // A lost connection does not require a restart: the agent reconnects sooner than that.
          probes: probes({
            host: address,
            port: ports.konnectivityHealth,
            scheme: 'HTTP',
            startup: '/healthz',
            readiness: '/readyz',
            liveness: '/healthz',
            readinessPeriodSeconds: 2,
          }),
          requests: { cpu: '10m', memory: '64Mi' },
          settings,
          volumeMounts: [{ name: 'token', mountPath: token.directory, readOnly: true }],
        }),
        ...healthPort(cluster, address),
      },
    ],
  });
  return {
    ...pod,
    serviceAccountName: serviceAccounts.konnectivityAgent,
    automountServiceAccountToken: true,
    // The network and DNS of the node exist before a pod network. Before that, the API server reaches the logs and
    // webhooks of the network plugin only through this agent.
    hostNetwork: true,
    dnsPolicy: 'Default',
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [...addOnTolerations, ...withoutNetwork, ...unreachable],
    // During termination it gets no new calls and serves until it is killed. The time is the default timeout of an
    // admission webhook.
    terminationGracePeriodSeconds: 10,
  };
}

/** Taints of a node without network. */
const withoutNetwork: readonly k8s.Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cilium.io/agent-not-ready', operator: 'Exists' },
];

/**
 * While one of two agents is on a lost node, half of all calls to nodes fail. Limit this to less than the default of
 * five minutes.
 */
const unreachable: readonly k8s.Toleration[] = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
];
