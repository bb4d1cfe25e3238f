import { k8s } from 'cdk8s-plus-30';
import type { Construct } from 'constructs';
import { managerSelector, metricsPort, providerNames } from '../cluster/provider-names.ts';
import { healthPort } from './operator.ts';

/**
 * Lets connections to the operator reach only its health and its metrics. It connects to whatever control planes need: API servers,
 * etcd and backup stores have any address and port.
 */
export class ManagerNetworkPolicy extends k8s.KubeNetworkPolicy {
  constructor(scope: Construct, id: string, namespace: string) {
    const ports = [healthPort, metricsPort].map((port) => ({
      protocol: 'TCP',
      port: k8s.IntOrString.fromNumber(port),
    }));
    super(scope, id, {
      metadata: { name: providerNames.manager, namespace },
      spec: {
        podSelector: { matchLabels: { ...managerSelector } },
        policyTypes: ['Ingress'],
        ingress: [{ ports }],
      },
    });
  }
}
