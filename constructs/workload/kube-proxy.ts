import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { container, probes, restartMetadata } from '../pod/component.ts';
import { type Endpoint, formatEndpoint } from '../cluster/facts.ts';
import { type Flag, formatFlags, mergeFlags } from '../pod/flags.ts';
import { imageReference, kubernetesImage } from '../cluster/versions.ts';
import { serviceAccounts } from '../cluster/workload-identities.ts';
import { isConfigurationField, kubeProxyConfiguration } from './kube-proxy-configuration.ts';

const name = 'kube-proxy';
const healthPort = 10256;
const directory = '/var/lib/kube-proxy';
const files = { configuration: 'config.conf', kubeconfig: 'kubeconfig.conf' } as const;
const labels = { 'k8s-app': name };

/** Every setting of kube-proxy that is ours, sorted, each with its reason. Which mode to use is left to kube-proxy. */
export function kubeProxyFlags({ network }: Pick<HostedCluster, 'network'>): Flag[] {
  const anyAddress = network.services[0]?.includes(':') ? '[::]' : '0.0.0.0';
  return [
    ['cluster-cidr', network.pods.join(','), 'what is not from a pod is masqueraded'],
    ['config', `${directory}/${files.configuration}`, ''],
    ['healthz-bind-address', `${anyAddress}:${healthPort}`, 'the pod is probed there'],
    ['hostname-override', '$(NODE_NAME)', 'the name of the Node, whatever the machine calls itself'],
    ['kubeconfig', `${directory}/${files.kubeconfig}`, ''],
  ];
}

export interface KubeProxyProps {
  readonly cluster: HostedCluster;
  readonly endpoint: Endpoint;
  /** What its pods know only from their start, by name: a change of any of it replaces them. */
  readonly startsWith: Readonly<Record<string, string>>;
}

/**
 * kube-proxy on every node, as kubeadm has it. It dials the endpoint itself: the Service `kubernetes`, which other
 * pods use, works only through its rules.
 */
export class KubeProxy extends Construct {
  constructor(scope: Construct, id: string, { cluster, endpoint, startsWith }: KubeProxyProps) {
    super(scope, id);
    const flags = mergeFlags(kubeProxyFlags(cluster), cluster.spec.kubeProxy.args);
    const metadata = { name, namespace: 'kube-system', labels };

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccounts.kubeProxy, namespace: metadata.namespace },
    });

    // A changed configuration file ends kube-proxy, which then starts with it: no restart has to be asked for.
    new k8s.KubeConfigMap(this, 'config', {
      metadata,
      data: {
        [files.configuration]: Yaml.stringify(kubeProxyConfiguration(flags)),
        [files.kubeconfig]: kubeconfig(endpoint),
      },
    });

    new k8s.KubeDaemonSet(this, 'daemon-set', {
      metadata,
      spec: {
        selector: { matchLabels: labels },
        // Rules stay in force while their kube-proxy restarts.
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: k8s.IntOrString.fromString('10%') } },
        template: { metadata: { labels, ...restartMetadata(startsWith) }, spec: podSpec(cluster, flags) },
      },
    });
  }
}

/** The identity of the pod, at the endpoint; files of the service account are read again when they change. */
function kubeconfig(endpoint: Endpoint): string {
  const account = '/var/run/secrets/kubernetes.io/serviceaccount';
  const server = `https://${formatEndpoint(endpoint)}`;
  return Yaml.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'default', cluster: { server, 'certificate-authority': `${account}/ca.crt` } }],
    users: [{ name: 'default', user: { tokenFile: `${account}/token` } }],
    contexts: [{ name: 'default', context: { cluster: 'default', user: 'default', namespace: 'default' } }],
    'current-context': 'default',
  });
}

function podSpec({ spec }: HostedCluster, flags: Readonly<Record<string, string>>): k8s.PodSpec {
  const { kubeProxy: settings, version } = spec;
  const ownFlags = Object.fromEntries(Object.entries(flags).filter(([flag]) => !isConfigurationField(flag)));
  return {
    serviceAccountName: serviceAccounts.kubeProxy,
    enableServiceLinks: false,
    hostNetwork: true,
    dnsPolicy: 'Default',
    priorityClassName: settings.priorityClassName ?? 'system-node-critical',
    // Whatever a node is for, and however ill it is, its pods need Services.
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    containers: [
      {
        ...container({
          name,
          image: imageReference(kubernetesImage(name, version), settings.image),
          command: ['/usr/local/bin/kube-proxy'],
          args: formatFlags(ownFlags),
          env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          ports: { healthz: healthPort },
          // /healthz also says whether load balancers should still use the node, which is no reason to restart.
          probes: probes({
            port: 'healthz',
            scheme: 'HTTP',
            startup: '/livez',
            readiness: '/livez',
            liveness: '/livez',
            readinessPeriodSeconds: 5,
          }),
          requests: { cpu: '20m', memory: '64Mi' },
          settings,
          volumeMounts: [
            { name: 'config', mountPath: directory, readOnly: true },
            { name: 'xtables-lock', mountPath: '/run/xtables.lock' },
            { name: 'lib-modules', mountPath: '/lib/modules', readOnly: true },
          ],
        }),
        // It writes the node's rules and kernel settings, and its image picks an iptables by changing links in itself.
        securityContext: { privileged: true },
      },
    ],
    volumes: [
      { name: 'config', configMap: { name } },
      // Shared with every other user of iptables on the node.
      { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
      { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
    ],
  };
}
