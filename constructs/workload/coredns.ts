import { createHash } from 'node:crypto';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { dnsServiceAddress, type HostedCluster } from '../cluster/cluster.ts';
import { container, type Probes, probes, restartMetadata, oneMoreAtATime } from '../pod/component.ts';
import type { Endpoint } from '../cluster/facts.ts';
import { type Flag, renderFlags } from '../pod/flags.ts';
import { insideOf } from '../pod/no-proxy.ts';
import { withAdditions } from '../pod/overlay.ts';
import { restrictedPod } from '../pod/restricted-pod.ts';
import { defaultsOf, imageReference } from '../cluster/versions.ts';
import { AddOnBudget, addOnNamespace, addOnTolerations, type CountedAddOnProps, replicasFor } from './add-on.ts';
import { serviceAccounts } from '../cluster/workload-identities.ts';
import { apiServerVariables } from './in-cluster-access/variables.ts';

const name = 'coredns';
const directory = '/etc/coredns';
const file = 'Corefile';
/** The label by which clients find DNS, whichever program provides it. */
const selector = { 'k8s-app': 'kube-dns' };
const labels = { ...selector, 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' };

const dnsPort = 53;
/** Besides DNS. */
const otherPorts = { metrics: 9153, health: 8080, ready: 8181 };

/** Every flag that the operator sets on CoreDNS. */
export const corednsFlags: readonly Flag[] = [['conf', `${directory}/${file}`, '']];

/**
 * DNS of the hosted cluster, as in kubeadm. It connects to the endpoint directly, so that it does not depend on an
 * in-cluster access that itself depends on DNS.
 */
export class CoreDNS extends Construct {
  constructor(scope: Construct, id: string, { cluster, endpoint, nodes, startsWith }: CountedAddOnProps) {
    super(scope, id);
    const settings = cluster.spec.coredns;
    const corefile = settings.corefile ?? defaultCorefile(cluster.network.serviceDomain);
    const metadata = { name, namespace: addOnNamespace };
    const replicas = replicasFor(settings.replicas, nodes);

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
        // The address that kubelets configure in every pod. The API server chooses a second one, of the other family.
        clusterIp: dnsServiceAddress(cluster.network),
        ipFamilyPolicy: 'PreferDualStack',
        selector,
        ports: [servicePort('dns', 53, 'UDP'), servicePort('dns-tcp', 53, 'TCP'), servicePort('metrics', 9153, 'TCP')],
      },
    });

    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { ...metadata, labels },
      spec: {
        replicas,
        selector: { matchLabels: selector },
        // With a Corefile that CoreDNS rejects, all running pods must continue to work.
        strategy: oneMoreAtATime,
        template: withAdditions(
          {
            metadata: {
              labels: selector,
              ...restartMetadata({ ...startsWith, corefile: checksum(corefile) }),
            },
            spec: podSpec(cluster, endpoint),
          },
          [settings],
          { inside: insideOf(cluster) },
        ),
      },
    });

    new AddOnBudget(this, 'budget', { name, selector, replicas });

    // A Corefile, flags or variables of a user decide where CoreDNS connects, and at which ports.
    if (settings.corefile === undefined && settings.args === undefined && settings.env === undefined) {
      new k8s.KubeNetworkPolicy(this, 'policy', { metadata, spec: policySpec(endpoint.port) });
    }
  }
}

function podSpec(cluster: HostedCluster, endpoint: Endpoint): k8s.PodSpec {
  const { spec } = cluster;
  const settings = spec.coredns;
  const defaults = { registry: 'registry.k8s.io', repository: 'coredns/coredns' };
  const pod = restrictedPod({
    selector,
    spreadPerRevision: true,
    volumes: [{ name: 'config', configMap: { name, items: [{ key: file, path: file }] } }],
    containers: [
      container({
        name,
        image: imageReference(spec, { ...defaults, tag: `v${defaultsOf(cluster).coredns}` }, settings.image),
        command: ['/coredns'],
        args: renderFlags(corednsFlags, settings.args),
        env: apiServerVariables(endpoint),
        udpPorts: { dns: dnsPort },
        ports: { 'dns-tcp': dnsPort, ...otherPorts },
        probes: healthProbes(),
        requests: { cpu: '100m', memory: '70Mi' },
        settings,
        // The binary in the image has this file capability, and does not start without it.
        capabilities: ['NET_BIND_SERVICE'],
        volumeMounts: [{ name: 'config', mountPath: directory, readOnly: true }],
      }),
    ],
  });
  return {
    ...pod,
    serviceAccountName: serviceAccounts.coredns,
    automountServiceAccountToken: true,
    // The DNS of the node: CoreDNS cannot resolve external names, or the endpoint, through itself.
    dnsPolicy: 'Default',
    priorityClassName: 'system-cluster-critical',
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    tolerations: [...addOnTolerations],
    securityContext: {
      ...pod.securityContext,
      // Allows port 53 for images without the capability; older container runtimes reserve it for root.
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    },
  };
}

/**
 * Liveness only checks the process. A pod is ready once it has read the cluster, which takes as long as the API server
 * is unavailable.
 */
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

/** The Corefile of kubeadm. Zones of the cluster are not cached, so that changes in the API take effect immediately. */
export function defaultCorefile(domain: string): string {
  return `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes ${domain} in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf {
       max_concurrent 1000
    }
    cache 30 {
       disable success ${domain}
       disable denial ${domain}
    }
    loop
    reload
    loadbalance
}
`;
}

/**
 * What CoreDNS may connect to, and at which ports it may be asked: a pod of it that was taken over reaches DNS servers and the API server,
 * and nothing else. No address is named, because the host of an endpoint may be a name. An administrator of the hosted cluster allows more
 * by a policy beside it. The konnectivity agent and kube-proxy have no policy: they use the network of their node, to which none applies.
 */
function policySpec(apiPort: number): k8s.NetworkPolicySpec {
  const questions = [port(dnsPort, 'UDP'), port(dnsPort, 'TCP')];
  return {
    podSelector: { matchLabels: selector },
    policyTypes: ['Ingress', 'Egress'],
    ingress: [{ ports: [...questions, ...Object.values(otherPorts).map((other) => port(other, 'TCP'))] }],
    egress: [{ ports: [...questions, port(apiPort, 'TCP')] }],
  };
}

function port(number: number, protocol: string): k8s.NetworkPolicyPort {
  return { port: k8s.IntOrString.fromNumber(number), protocol };
}
