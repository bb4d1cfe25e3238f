import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { container, probes, restartMetadata } from '../pod/component.ts';
import type { Endpoint } from '../cluster/facts.ts';
import { type Flag, renderFlags } from '../pod/flags.ts';
import { ports } from '../cluster/ports.ts';
import { restrictedPod } from '../pod/restricted-pod.ts';
import { defaultsFor, imageReference } from '../cluster/versions.ts';
import { addOnNamespace, addOnTolerations, replicasFor } from './add-on.ts';
import { konnectivityAudience, serviceAccounts } from '../cluster/workload-identities.ts';
import { apiServerVariables } from './in-cluster-access/variables.ts';

const name = 'konnectivity-agent';
const labels = { 'k8s-app': name };
const token = { directory: '/var/run/secrets/tokens', file: 'konnectivity-agent-token' } as const;

/**
 * Every flag we set on the konnectivity agent, sorted, each with its reason.
 *
 * @param address where it tells its node how it is
 */
export function konnectivityAgentFlags({ host, port }: Endpoint, address: string): Flag[] {
  return [
    ['admin-bind-address', address, ''],
    ['admin-server-port', String(ports.konnectivityAdmin), ''],
    ['agent-id', '$(POD_NAME)', 'two of one name on a node would be one, of which the older one is asked'],
    ['ca-cert', '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt', ''],
    ['count-server-leases', 'true', 'connects to every server behind the one address, however many there are'],
    ['health-server-host', address, ''],
    ['health-server-port', String(ports.konnectivityHealth), ''],
    ['keepalive-time', '1m', 'notices servers that are gone without a word; they refuse less than 30s'],
    ['proxy-server-host', host, ''],
    ['proxy-server-port', String(port), ''],
    ['service-account-token-path', `${token.directory}/${token.file}`, ''],
    [
      'sync-interval',
      '250ms',
      'an API server that is new reaches no node until an agent has found it among the others',
    ],
  ];
}

export interface KonnectivityAgentProps {
  readonly cluster: HostedCluster;
  /** Of the API server, which tells how many konnectivity servers there are. */
  readonly endpoint: Endpoint;
  /** Where it dials. */
  readonly konnectivityEndpoint: Endpoint;
  /** Nodes of the hosted cluster, if they could be counted. */
  readonly nodes: number | undefined;
  /** What its pods know only from their start, by name: a change of any of it replaces them. */
  readonly startsWith: Readonly<Record<string, string>>;
}

/**
 * What connects to the konnectivity servers, and dials nodes, pods and Services for them. A few are enough, because each
 * reaches every node: a connection per node would cost the control plane more the larger the cluster is.
 */
export class KonnectivityAgent extends Construct {
  constructor(scope: Construct, id: string, props: KonnectivityAgentProps) {
    super(scope, id);
    const { cluster, nodes } = props;
    const settings = cluster.spec.konnectivityClient;
    const metadata = { name, namespace: addOnNamespace, labels };

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccounts.konnectivityAgent, namespace: addOnNamespace },
    });
    new k8s.KubeDeployment(this, 'deployment', {
      metadata,
      spec: {
        replicas: replicasFor(settings.replicas, nodes),
        selector: { matchLabels: labels },
        // The only agent of a cluster of one node is replaced on that node: until the new one serves, the old one does.
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
        },
        template: podTemplate(props, addressOf(podTemplate(props, ''))),
      },
    });
  }
}

/**
 * A loopback address of its own for each revision: the old agent and the new one are side by side on the one network of
 * their node. The port is none that the node has to lend: an agent that a person restarts has the address of the old one,
 * and works without it until its liveness probe has it begin anew; a lent port would keep it from starting at all.
 */
function addressOf(revision: k8s.PodTemplateSpec): string {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(JSON.stringify(revision)).digest();
  // 127.0 is where other programs are.
  return `127.${1 + (a % 254)}.${b}.${1 + (c % 254)}`;
}

function podTemplate(props: KonnectivityAgentProps, address: string): k8s.PodTemplateSpec {
  return { metadata: { labels, ...restartMetadata(props.startsWith) }, spec: podSpec(props, address) };
}

function podSpec({ cluster, endpoint, konnectivityEndpoint }: KonnectivityAgentProps, address: string): k8s.PodSpec {
  const { konnectivityClient: settings, version } = cluster.spec;
  const defaults = { registry: 'registry.k8s.io', repository: 'kas-network-proxy/proxy-agent' };
  const pod = restrictedPod({
    selector: labels,
    spreadPerRevision: true,
    pod: { ...settings, priorityClassName: settings.priorityClassName ?? 'system-cluster-critical' },
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
      container({
        name,
        image: imageReference({ ...defaults, tag: `v${defaultsFor(version).konnectivity}` }, settings.image),
        command: ['/proxy-agent'],
        args: renderFlags(konnectivityAgentFlags(konnectivityEndpoint, address), settings.args),
        env: [
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          ...apiServerVariables(endpoint),
        ],
        // Not being connected is no reason to restart: it tries again by itself, and sooner.
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
    ],
  });
  return {
    ...pod,
    serviceAccountName: serviceAccounts.konnectivityAgent,
    automountServiceAccountToken: true,
    // The node's network and DNS are there before a pod network is. Without one, the logs of whatever should bring it,
    // and the webhooks it installs, could be reached by no other agent.
    hostNetwork: true,
    dnsPolicy: 'Default',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [...addOnTolerations, ...withoutNetwork, ...unreachable],
    // Told to end, it is given no more calls and serves until it is killed: as long as an admission webhook may take by default.
    terminationGracePeriodSeconds: 10,
  };
}

/** Taints of a node whose network is not there yet. */
const withoutNetwork: readonly k8s.Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cilium.io/agent-not-ready', operator: 'Exists' },
];

/** Half of all calls to nodes go nowhere while one of two agents is on a node that is gone: not for five minutes. */
const unreachable: readonly k8s.Toleration[] = [
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 30 },
];
