import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import type { Probes } from '../../pod/component.ts';
import { withAdditions } from '../../pod/overlay.ts';
import { ports } from '../../cluster/ports.ts';
import { unprivileged } from '../../pod/restricted-pod.ts';
import {
  type IpFamily,
  proxyContainer,
  proxyFiles,
  proxyGraceSeconds,
  proxyNamespace,
  type ProxyTarget,
  proxyVolumes,
} from './forwarding.ts';

const name = 'hosted-control-plane-proxy';

/** The labels that the Service `kubernetes` selects. */
export const proxyLabels = { 'app.kubernetes.io/name': name } as const;

export interface ProxyProps {
  readonly target: ProxyTarget;
  /** Port of the proxy on every node: the target port of the Service `kubernetes`. */
  readonly port: number;
  readonly spec: Pick<HostedControlPlaneSpec, 'proxy' | 'imageRegistry'>;
  readonly ipFamily: IpFamily;
}

/**
 * A proxy to the API server on every node, for the Service `kubernetes`. It depends on nothing that needs the API: no
 * cluster DNS, no pod network, no token.
 */
export class Proxy extends Construct {
  constructor(scope: Construct, id: string, { target, port, spec, ipFamily }: ProxyProps) {
    super(scope, id);
    const metadata = { name, namespace: proxyNamespace };
    new k8s.KubeConfigMap(this, 'config', {
      metadata,
      data: proxyFiles({
        target,
        ipFamily,
        bind: `\${HOST_IP}:${port}`,
        health: `127.0.0.1:${ports.tunnelHealth}`,
        connections: 4_000,
        serveSeconds: 0,
      }),
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

function podSpec(target: ProxyTarget, spec: ProxyProps['spec']): k8s.PodSpec {
  const { volumes, volumeMounts } = proxyVolumes(name, target);
  return {
    hostNetwork: true,
    dnsPolicy: 'Default',
    priorityClassName: 'system-node-critical',
    // Pods need the API on every node, whatever its purpose.
    tolerations: [{ operator: 'Exists' }],
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: proxyGraceSeconds,
    securityContext: unprivileged,
    containers: [
      // No ports, although it listens: only one pod can have a port that is declared on the host network.
      proxyContainer(spec, ['HOST_IP', 'status.hostIP'], { ports: {}, probes: hostProbes, volumeMounts }),
    ],
    volumes,
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
