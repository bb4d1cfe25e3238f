import type { Proof } from '../contract/row.ts';
import type { Typed } from './typed.ts';

const passthrough: Proof = ['constructs/stacks/hetzner/k0rdent.test', 'pass TLS through %s'];
const values: Proof = ['full/cluster/api/charts.test', 'makes the objects of the constructs with %s'];
const own = 'a chart of another project, whose controller is not installed in the tests';
const set = '--namespace haproxy-ingress --create-namespace --set controller.service.type';
const tls = '--set controller.ingressClass=haproxy --set controller.config.ssl-passthrough=true';

/** 002: k0smotron behind an Ingress in Hetzner Cloud. */
export const hetzner: readonly Typed[] = [
  { command: 'helm repo add haproxytech https://haproxytech.github.io/helm-charts', notTried: own },
  {
    command: `helm install haproxy-ingress haproxytech/kubernetes-ingress ${set}=ClusterIP ${tls}`,
    instead: 'helm install haproxy-ingress … --values dist/stacks/hetzner/haproxy-values.yaml',
    because:
      'the values are in a file; HAProxy itself runs in the tests, with the configuration that its controller writes',
    proof: passthrough,
  },
  {
    command: `helm install haproxy-ingress haproxytech/kubernetes-ingress ${set}=LoadBalancer --set controller.service.annotations."load-balancer\\.hetzner\\.cloud/location"=nbg1 ${tls}`,
    instead: 'helm install haproxy-ingress … --values dist/stacks/hetzner/haproxy-values-load-balancer.yaml',
    because:
      'the values are in a file; HAProxy itself runs in the tests, with the configuration that its controller writes',
    proof: passthrough,
  },
  { yaml: 1, what: '`controlPlane.service` and `controlPlane.ingress`', asWritten: true, proof: values },
  { yaml: 2, what: '`controlPlane.service` of type LoadBalancer', asWritten: true, proof: values },
  {
    yaml: 3,
    what: '`spec.ingress` of K0smotronControlPlane',
    instead: '`spec.exposure.ingress` of HostedControlPlane, without `enabled`',
    because: 'strategies exclude each other, so that one is enabled by being there',
    proof: [
      'soak/exposure-strategies.test',
      'behind HAProxy, which distinguishes both hosts at one port by the name in TLS, a worker joins, its pods reach the API server, and kubectl reaches them',
    ],
  },
  {
    yaml: 4,
    what: '`spec.controlPlaneEndpoint` of the HetznerCluster',
    asWritten: true,
    remark: 'the chart writes it',
    proof: [
      'constructs/stacks/hetzner/chart.test',
      'makes a HostedControlPlane that is valid, for the endpoint of the HetznerCluster',
    ],
  },
  {
    yaml: 5,
    what: 'the ClusterDeployment',
    asWritten: true,
    proof: ['constructs/stacks/hetzner/k0rdent.test', 'has the config as the user wrote it'],
  },
];
