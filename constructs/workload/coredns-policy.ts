import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { addOnNamespace } from './add-on.ts';

export interface CoreDNSPolicyProps {
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  /** The port of DNS, which pods ask, and at which CoreDNS asks the servers of its node. */
  readonly dns: number;
  /** Ports of its metrics and probes. */
  readonly others: readonly number[];
  /** The port of the API server. */
  readonly api: number;
}

/**
 * What CoreDNS may connect to, and at which ports it may be asked: a pod of it that was taken over reaches DNS servers and the API server,
 * and nothing else. No address is named, because the host of an endpoint may be a name. An administrator of the hosted cluster allows more
 * by a policy beside it. The konnectivity agent and kube-proxy have no policy: they use the network of their node, to which none applies.
 */
export class CoreDNSPolicy extends Construct {
  constructor(scope: Construct, id: string, { name, selector, dns, others, api }: CoreDNSPolicyProps) {
    super(scope, id);
    const questions = [port(dns, 'UDP'), port(dns, 'TCP')];
    new k8s.KubeNetworkPolicy(this, 'policy', {
      metadata: { name, namespace: addOnNamespace },
      spec: {
        podSelector: { matchLabels: selector },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [{ ports: [...questions, ...others.map((other) => port(other, 'TCP'))] }],
        egress: [{ ports: [...questions, port(api, 'TCP')] }],
      },
    });
  }
}

function port(number: number, protocol: string): k8s.NetworkPolicyPort {
  return { port: k8s.IntOrString.fromNumber(number), protocol };
}
