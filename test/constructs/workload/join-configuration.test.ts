import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Facts } from '../../../constructs/cluster/facts.ts';
import { renderWorkload, type WorkloadPart } from '../../../constructs/workload/chart.ts';
import { type ClusterChanges, clusterOf, knownFacts } from '../../support/rendered-cluster.ts';

/** The only ConfigMap of a part, with its file parsed. */
function configMap(part: WorkloadPart, changes: ClusterChanges = {}, facts: Partial<Facts> = {}) {
  const [object, ...others] = renderWorkload(clusterOf(changes), { ...knownFacts, ...facts }, part);
  const [[key, text] = ['', ''], ...keys] = Object.entries(object?.['data'] as Record<string, string>);
  expect([...others, ...keys]).toEqual([]);
  return { name: `${object?.metadata.namespace}/${object?.metadata.name}`, key, file: parse(text) as unknown };
}

const ipv6 = { endpoint: { host: '2001:db8::10', port: 6443 } };
const dualStack = {
  services: { cidrBlocks: ['fd00:10:96::/112', '10.96.0.0/16'] },
  pods: { cidrBlocks: ['fd00:10:244::/56', '10.244.0.0/16'] },
};

describe('cluster-info', () => {
  it('contains one cluster without a name, with the endpoint and its CA', () => {
    const ca = Buffer.from('PEM of the CA').toString('base64');
    expect(configMap('cluster-info')).toEqual({
      name: 'kube-public/cluster-info',
      key: 'kubeconfig',
      file: {
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: '', cluster: { server: 'https://192.0.2.10:6443', 'certificate-authority-data': ca } }],
      },
    });
  });

  it('writes an IPv6 endpoint as a URL does', () => {
    const { file } = configMap('cluster-info', {}, ipv6);
    expect(file).toMatchObject({ clusters: [{ cluster: { server: 'https://[2001:db8::10]:6443' } }] });
  });
});

describe('kubeadm-config', () => {
  it('contains version, endpoint and networks', () => {
    expect(configMap('kubeadm-config')).toEqual({
      name: 'kube-system/kubeadm-config',
      key: 'ClusterConfiguration',
      file: {
        apiVersion: 'kubeadm.k8s.io/v1beta4',
        kind: 'ClusterConfiguration',
        certificatesDir: '/etc/kubernetes/pki',
        clusterName: 'c1',
        controlPlaneEndpoint: '192.0.2.10:6443',
        imageRepository: 'registry.k8s.io',
        kubernetesVersion: 'v1.36.3',
        networking: { dnsDomain: 'cluster.local', podSubnet: '10.0.0.0/16', serviceSubnet: '10.96.0.0/12' },
      },
    });
  });

  it('names every network of a dual-stack cluster, and its domain', () => {
    const { file } = configMap('kubeadm-config', { network: { ...dualStack, serviceDomain: 'one.example' } }, ipv6);
    expect(file).toMatchObject({
      controlPlaneEndpoint: '[2001:db8::10]:6443',
      networking: {
        dnsDomain: 'one.example',
        podSubnet: 'fd00:10:244::/56,10.244.0.0/16',
        serviceSubnet: 'fd00:10:96::/112,10.96.0.0/16',
      },
    });
  });

  it.each([
    ['1.36.3', 'v1.36.3'],
    ['v1.35', 'v1.35.0'],
    ['v1.34.2+vendor.1', 'v1.34.2+vendor.1'],
  ])('writes version %s as kubeadm reads it', (version, kubernetesVersion) => {
    expect(configMap('kubeadm-config', { spec: { version } }).file).toMatchObject({ kubernetesVersion });
  });
});

describe('kubelet-config', () => {
  it('has the content that kubeadm writes, with serving certificates, and leaves the rest to the kubelet', () => {
    expect(configMap('kubelet-config')).toEqual({
      name: 'kube-system/kubelet-config',
      key: 'kubelet',
      file: {
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        authentication: {
          anonymous: { enabled: false },
          webhook: { enabled: true },
          x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' },
        },
        authorization: { mode: 'Webhook' },
        cgroupDriver: 'systemd',
        clusterDNS: ['10.96.0.10'],
        clusterDomain: 'cluster.local',
        healthzBindAddress: '127.0.0.1',
        healthzPort: 10248,
        rotateCertificates: true,
        serverTLSBootstrap: true,
        staticPodPath: '/etc/kubernetes/manifests',
      },
    });
  });

  it('contains the DNS address of the first network, of either IP family', () => {
    const { file } = configMap('kubelet-config', { network: { ...dualStack, serviceDomain: 'one.example' } });
    expect(file).toMatchObject({ clusterDNS: ['fd00:10:96::a'], clusterDomain: 'one.example' });
  });

  it('is the same for every minor: defaults are left to Kubernetes', () => {
    const [oldest, newest] = ['v1.32.0', 'v1.36.3'].map((version) =>
      configMap('kubelet-config', { spec: { version } }),
    );
    expect(oldest).toEqual(newest);
  });
});
