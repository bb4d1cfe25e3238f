import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { healthzProbes, oneMoreAtATime } from '../../pod/component.ts';
import { withAdditions } from '../../pod/overlay.ts';
import { restrictedPod } from '../../pod/restricted-pod.ts';
import { servedSeconds } from '../../pod/shutdown.ts';
import { ports } from '../../cluster/ports.ts';
import { addOnTolerations, replicasFor } from '../add-on.ts';
import { proxyContainer, proxyFiles, proxyGraceSeconds, proxyNamespace, proxyVolumes } from './forwarding.ts';
import type { ProxyProps } from './proxy.ts';

const name = 'hosted-control-plane-service-proxy';

/** The labels that the Service `kubernetes` selects where pods connect to the endpoint, and only some by its name. */
export const serviceProxyLabels = { 'app.kubernetes.io/name': name } as const;

export interface ServiceProxyProps extends ProxyProps {
  /** Number of nodes of the hosted cluster; undefined when it is unknown. */
  readonly nodes: number | undefined;
}

/**
 * Two proxies to the API server behind the Service `kubernetes`, for programs that connect to its name or address. They
 * are ordinary pods of the pod network, and nothing of the control plane or of the add-ons connects through them.
 */
export class ServiceProxy extends Construct {
  constructor(scope: Construct, id: string, { target, port, spec, ipFamily, nodes }: ServiceProxyProps) {
    super(scope, id);
    const metadata = { name, namespace: proxyNamespace };
    new k8s.KubeConfigMap(this, 'config', {
      metadata,
      data: proxyFiles({
        target,
        ipFamily,
        bind: `\${POD_IP}:${port}`,
        health: `\${POD_IP}:${ports.tunnelHealth}`,
        connections: 4_000,
        // Until kube-proxy on every node has removed the pod from the Service.
        serveSeconds: servedSeconds,
      }),
    });
    const { volumes, volumeMounts } = proxyVolumes(name, target);
    new k8s.KubeDeployment(this, 'proxy', {
      metadata: { ...metadata, labels: serviceProxyLabels },
      spec: {
        replicas: replicasFor(2, nodes),
        selector: { matchLabels: serviceProxyLabels },
        strategy: oneMoreAtATime,
        template: withAdditions(
          {
            metadata: { labels: serviceProxyLabels },
            spec: {
              ...restrictedPod({
                selector: serviceProxyLabels,
                spreadPerRevision: true,
                volumes,
                containers: [
                  proxyContainer(spec, ['POD_IP', 'status.podIP'], {
                    ports: { api: port, health: ports.tunnelHealth },
                    probes: healthzProbes('health'),
                    volumeMounts,
                  }),
                ],
              }),
              // The DNS of the node resolves the endpoint for the kubelet too.
              dnsPolicy: 'Default',
              priorityClassName: 'system-cluster-critical',
              nodeSelector: { 'kubernetes.io/os': 'linux' },
              tolerations: [...addOnTolerations],
              terminationGracePeriodSeconds: proxyGraceSeconds,
            },
          },
          [spec.proxy],
        ),
      },
    });
  }
}
