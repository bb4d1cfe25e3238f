import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { dnsServiceAddress, type HostedCluster } from '../cluster/cluster.ts';
import { container, type Probes, probes, restartMetadata } from '../pod/component.ts';
import type { Endpoint } from '../cluster/facts.ts';
import { type Flag, renderFlags } from '../pod/flags.ts';
import { restrictedPod } from '../pod/restricted-pod.ts';
import { defaultsFor, imageReference } from '../cluster/versions.ts';
import { addOnNamespace, addOnTolerations, replicasFor } from './add-on.ts';
import { defaultCorefile } from './corefile.ts';
import { serviceAccounts } from '../cluster/workload-identities.ts';
import { apiServerVariables } from './in-cluster-access/variables.ts';

const name = 'coredns';
const directory = '/etc/coredns';
const file = 'Corefile';
/** What everybody looks for DNS by, whichever program it is. */
const selector = { 'k8s-app': 'kube-dns' };
const labels = { ...selector, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' };

/** Every flag we set on CoreDNS. */
export const corednsFlags: readonly Flag[] = [['conf', `${directory}/${file}`, '']];

export interface CoreDNSProps {
  readonly cluster: HostedCluster;
  readonly endpoint: Endpoint;
  /** Nodes of the hosted cluster, if they could be counted. */
  readonly nodes: number | undefined;
  /** What its pods know only from their start, by name: a change of any of it replaces them. */
  readonly startsWith: Readonly<Record<string, string>>;
}

/** DNS of the hosted cluster, as kubeadm has it. It dials the endpoint itself, so that no way into the cluster needs it and is needed by it. */
export class CoreDNS extends Construct {
  constructor(scope: Construct, id: string, { cluster, endpoint, nodes, startsWith }: CoreDNSProps) {
    super(scope, id);
    const settings = cluster.spec.coredns;
    const corefile = settings.corefile ?? defaultCorefile(cluster.network.serviceDomain);
    const metadata = { name, namespace: addOnNamespace };

    new k8s.KubeServiceAccount(this, 'service-account', { metadata: { ...metadata, name: serviceAccounts.coredns } });
    new k8s.KubeConfigMap(this, 'config', { metadata, data: { [file]: corefile } });

    new k8s.KubeService(this, 'service', {
      metadata: {
        name: 'kube-dns',
        namespace: addOnNamespace,
        labels,
        annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' },
      },
      spec: {
        // The address that kubelets tell every pod. A second one, of the other family, is the server's to choose.
        clusterIp: dnsServiceAddress(cluster.network),
        ipFamilyPolicy: 'PreferDualStack',
        selector,
        ports: [servicePort('dns', 53, 'UDP'), servicePort('dns-tcp', 53, 'TCP'), servicePort('metrics', 9153, 'TCP')],
      },
    });

    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { ...metadata, labels },
      spec: {
        replicas: replicasFor(settings.replicas, nodes),
        selector: { matchLabels: selector },
        // A Corefile that CoreDNS refuses must not cost a single pod that still works.
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
        },
        template: {
          metadata: {
            labels: selector,
            ...restartMetadata({ ...startsWith, corefile: checksum(corefile) }),
          },
          spec: podSpec(cluster, endpoint),
        },
      },
    });
  }
}

function podSpec({ spec }: HostedCluster, endpoint: Endpoint): k8s.PodSpec {
  const settings = spec.coredns;
  const defaults = { registry: 'registry.k8s.io', repository: 'coredns/coredns' };
  const pod = restrictedPod({
    selector,
    spreadPerRevision: true,
    pod: { ...settings, priorityClassName: settings.priorityClassName ?? 'system-cluster-critical' },
    volumes: [{ name: 'config', configMap: { name, items: [{ key: file, path: file }] } }],
    containers: [
      container({
        name,
        image: imageReference({ ...defaults, tag: `v${defaultsFor(spec.version).coredns}` }, settings.image),
        command: ['/coredns'],
        args: renderFlags(corednsFlags, settings.args),
        env: apiServerVariables(endpoint),
        udpPorts: { dns: 53 },
        ports: { 'dns-tcp': 53, metrics: 9153, health: 8080, ready: 8181 },
        probes: healthProbes(),
        requests: { cpu: '100m', memory: '70Mi' },
        settings,
        // The file of the image asks for it and does not start without.
        capabilities: ['NET_BIND_SERVICE'],
        volumeMounts: [{ name: 'config', mountPath: directory, readOnly: true }],
      }),
    ],
  });
  return {
    ...pod,
    serviceAccountName: serviceAccounts.coredns,
    automountServiceAccountToken: true,
    // The node's: what CoreDNS does not know itself, and the endpoint, it cannot ask itself about.
    dnsPolicy: 'Default',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [...addOnTolerations],
    securityContext: {
      ...pod.securityContext,
      // Port 53 for images that ask for no capability; older container runtimes keep it for root.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    },
  };
}

/** Alive is the process; ready is what has seen the cluster, which may take as long as the API server is away. */
function healthProbes(): Probes {
  const paths = { startup: '/health', readiness: '/ready', liveness: '/health' };
  const at = (port: string) => probes({ port, scheme: 'HTTP', ...paths, readinessPeriodSeconds: 2 });
  return { ...at('health'), readinessProbe: at('ready').readinessProbe };
}

function servicePort(portName: string, port: number, protocol: string): k8s.ServicePort {
  return { name: portName, port, protocol, targetPort: k8s.IntOrString.fromString(portName) };
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
