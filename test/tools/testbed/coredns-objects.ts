import { corefile, machinesDnsPort } from './corefile.ts';
import { corednsImage } from './images.ts';
import { dnsAddress, lanAddress, managementNumber, type Instance } from './instance.ts';
import { clusterRoleBinding, type Manifest } from './manifest.ts';

const namespace = 'kube-system';
const labels = { 'k8s-app': 'kube-dns' };

/** The management cluster's DNS: for its pods at {@link dnsAddress}, for machines at the management machine's address. */
export async function corednsObjects(instance: Instance): Promise<Manifest[]> {
  const metadata = { name: 'coredns', namespace };
  const rules = [
    { apiGroups: [''], resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
    { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
  ];
  const role = { kind: 'ClusterRole', metadata: { name: 'system:coredns' }, rules };
  const spec = corednsDeployment(await corednsImage());
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'rbac.authorization.k8s.io/v1', ...role },
    clusterRoleBinding('system:coredns', 'system:coredns', { kind: 'ServiceAccount', ...metadata }),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { Corefile: corefile(instance) } },
    service('kube-dns', { clusterIP: dnsAddress(instance) }, 53),
    service('machines-dns', { externalIPs: [lanAddress(instance, managementNumber)] }, machinesDnsPort),
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec },
  ];
}

function service(name: string, addresses: object, targetPort: number): Manifest {
  const ports = ['UDP', 'TCP'].map((protocol) => ({
    name: `dns-${protocol.toLowerCase()}`,
    port: 53,
    protocol,
    targetPort,
  }));
  const spec = { ...addresses, selector: labels, ports };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace }, spec };
}

function corednsDeployment(image: string): object {
  const container = {
    name: 'coredns',
    image,
    args: ['-conf', '/etc/coredns/Corefile'],
    volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
    readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
  };
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        serviceAccountName: 'coredns',
        dnsPolicy: 'Default',
        containers: [container],
        volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
      },
    },
  };
}
