import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ClusterNetworkSpec } from '../../../constructs/cluster/cluster.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';

const kubeProxy = (settings: object = {}, network: ClusterNetworkSpec = {}) =>
  new RenderedPart('kube-proxy', { spec: { kubeProxy: settings }, network });

describe('kube-proxy', () => {
  it('is configured by a file that leaves the mode to its default', () => {
    expect(parse(kubeProxy().file('config.conf'))).toEqual({
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      kind: 'KubeProxyConfiguration',
      clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf' },
      clusterCIDR: '10.0.0.0/16',
      healthzBindAddress: '0.0.0.0:10256',
    });
    expect(kubeProxy().args).toEqual(['--config=/var/lib/kube-proxy/config.conf', '--hostname-override=$(NODE_NAME)']);
  });

  it('connects to the endpoint, because the kubernetes Service works only once kube-proxy runs', () => {
    const kubeconfig = parse(kubeProxy().file('kubeconfig.conf')) as { clusters: [{ cluster: { server: string } }] };
    expect(kubeconfig.clusters[0].cluster.server).toBe('https://192.0.2.10:6443');
  });

  it('has both pod networks, and binds its health endpoint in the first IP family', () => {
    const network = {
      services: { cidrBlocks: ['fd00:10:96::/112', '10.96.0.0/16'] },
      pods: { cidrBlocks: ['fd00:10:244::/56', '10.244.0.0/16'] },
    };
    expect(parse(kubeProxy({}, network).file('config.conf'))).toMatchObject({
      clusterCIDR: 'fd00:10:244::/56,10.244.0.0/16',
      healthzBindAddress: '[::]:10256',
    });
  });

  it("takes the user's arguments where they have an effect: in the file, or on the command line", () => {
    const args = { 'proxy-mode': 'nftables', 'conntrack-max-per-core': '0', v: '4', 'cluster-cidr': '10.9.0.0/16' };
    const rendered = kubeProxy({ args });
    expect(parse(rendered.file('config.conf'))).toMatchObject({
      mode: 'nftables',
      conntrack: { maxPerCore: 0 },
      clusterCIDR: '10.0.0.0/16',
    });
    expect(rendered.args).toEqual([...kubeProxy().args, '--v=4']);
  });

  it('runs on every Linux node, even an unhealthy one, before everything else', () => {
    const { pod, object } = kubeProxy().workload;
    expect(object.kind).toBe('DaemonSet');
    expect(pod.tolerations).toEqual([{ operator: 'Exists' }]);
    expect(pod.nodeSelector).toEqual({ 'kubernetes.io/os': 'linux' });
    expect(pod.hostNetwork).toBe(true);
    expect(pod.priorityClassName).toBe('system-node-critical');
  });

  it('has the version of its cluster, and takes the settings any container has', () => {
    expect(kubeProxy().workload.containers[0]?.image).toBe('registry.k8s.io/kube-proxy:v1.36.3');
    const settings = {
      image: { registry: 'mirror.example.org' },
      imagePullPolicy: 'Always',
      priorityClassName: 'networking',
      resources: { limits: { memory: '256Mi' } },
    };
    const { pod, containers } = kubeProxy(settings).workload;
    expect(pod.priorityClassName).toBe('networking');
    expect(containers[0]).toMatchObject({
      image: 'mirror.example.org/kube-proxy:v1.36.3',
      imagePullPolicy: 'Always',
      resources: { limits: { memory: '256Mi' } },
    });
  });

  it('is not rendered if it is disabled', () => {
    expect(kubeProxy({ disabled: true }).objects).toEqual([]);
  });
});
