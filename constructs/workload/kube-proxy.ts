import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../cluster/cluster.ts';
import { container, probes, restartMetadata } from '../pod/component.ts';
import { type Endpoint, formatEndpoint } from '../cluster/facts.ts';
import { type Flag, formatFlags, mergeFlags } from '../pod/flags.ts';
import { insideOf } from '../pod/no-proxy.ts';
import { withAdditions } from '../pod/overlay.ts';
import { imageReference, kubernetesImage } from '../cluster/versions.ts';
import type { AddOnProps } from './add-on.ts';
import { serviceAccounts } from '../cluster/workload-identities.ts';
import { isConfigurationField, kubeProxyConfiguration } from './kube-proxy-configuration.ts';

const name = 'kube-proxy';
const healthPort = 10256;
const directory = '/var/lib/kube-proxy';
const files = { configuration: 'config.conf', kubeconfig: 'kubeconfig.conf' } as const;
const labels = { 'k8s-app': name };

/** Every setting of kube-proxy that the operator sets, sorted, with its reason. kube-proxy chooses its mode. */
export function kubeProxyFlags({ network }: Pick<HostedCluster, 'network'>): Flag[] {
  const anyAddress = network.services[0]?.includes(':') ? '[::]' : '0.0.0.0';
  return [
    ['cluster-cidr', network.pods.join(','), 'kube-proxy masquerades traffic from outside this range'],
    ['config', `${directory}/${files.configuration}`, ''],
    ['healthz-bind-address', `${anyAddress}:${healthPort}`, 'address of the probes'],
    ['hostname-override', '$(NODE_NAME)', 'the name of the Node, independent of the host name of the machine'],
    ['kubeconfig', `${directory}/${files.kubeconfig}`, ''],
  ];
}

/**
 * kube-proxy on every node, as in kubeadm. It connects to the endpoint directly, because the Service `kubernetes`,
 * which other pods use, depends on its rules.
 */
export class KubeProxy extends Construct {
  constructor(scope: Construct, id: string, { cluster, endpoint, startsWith }: AddOnProps) {
    super(scope, id);
    const flags = mergeFlags(kubeProxyFlags(cluster), cluster.spec.kubeProxy.args);
    const metadata = { name, namespace: 'kube-system', labels };

    new k8s.KubeServiceAccount(this, 'service-account', {
      metadata: { name: serviceAccounts.kubeProxy, namespace: metadata.namespace },
    });

    // kube-proxy exits when its configuration file changes, and restarts with it: no rollout is needed.
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
        // Rules stay in force while kube-proxy restarts.
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: k8s.IntOrString.fromString('10%') } },
        template: withAdditions(
          { metadata: { labels, ...restartMetadata(startsWith) }, spec: podSpec(cluster, flags) },
          [cluster.spec.kubeProxy],
          { inside: insideOf(cluster) },
        ),
      },
    });
  }
}

/** The identity of the pod, at the endpoint. kube-proxy reloads the files of the service account when they change. */
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
    priorityClassName: 'system-node-critical',
    // Pods need Services on every node, whatever its purpose and state.
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    containers: [
      {
        ...container({
          name,
          image: imageReference(spec, kubernetesImage(name, version), settings.image),
          command: ['/usr/local/bin/kube-proxy'],
          args: formatFlags(ownFlags),
          env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          ports: { healthz: healthPort },
          // /healthz also reports whether load balancers should use the node, which is no reason for a restart.
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
        // It writes the node's rules and kernel settings, and its image selects an iptables variant by changing
        // symbolic links.
        securityContext: { privileged: true },
      },
    ],
    volumes: [
      { name: 'config', configMap: { name } },
      // All users of iptables on the node share it.
      { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
      { name: 'lib-modules', hostPath: { path: '/lib/modules' } },
    ],
  };
}
