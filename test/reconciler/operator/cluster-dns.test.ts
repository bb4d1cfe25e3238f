import { expect, it } from 'vitest';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { clusterDns, nameServersIn } from '../../../reconciler/operator/connected-operator.ts';

const service = (namespace: string, selector: object | undefined, ports: readonly object[]) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name: 'dns' },
  spec: { ...(selector && { selector }), ports },
});
const kubeDns = service('kube-system', { 'k8s-app': 'kube-dns' }, [
  { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
]);
const openshift = service('openshift-dns', { dns: 'default' }, [
  { port: 53, protocol: 'UDP', targetPort: 'dns' },
  { port: 53, targetPort: 5353 },
]);

/** A management cluster with these Services, by their cluster IP. */
function clusterWith(services: Readonly<Record<string, object>>): Pick<KubernetesApi, 'list'> {
  const list = async (_: unknown, { fieldSelector = '' }: { fieldSelector?: string } = {}) => {
    const found = services[fieldSelector.replace('spec.clusterIP=', '')];
    return { items: found ? [found] : [], resourceVersion: '1' };
  };
  return { list: list as unknown as KubernetesApi['list'] };
}

it.each<[string, string, Readonly<Record<string, object>>, object | undefined]>([
  ['unknown without a name server', 'search example.org', {}, undefined],
  [
    'the pods of its Service',
    'search svc.cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n',
    { '10.96.0.10': kubeDns },
    {
      pods: [
        {
          namespace: 'kube-system',
          labels: { 'k8s-app': 'kube-dns' },
          ports: [
            { number: 53, protocol: 'UDP' },
            { number: 53, protocol: 'TCP' },
          ],
        },
      ],
      networks: [],
    },
  ],
  [
    'the pods of its Service at their own ports',
    'nameserver 172.30.0.10',
    { '172.30.0.10': openshift },
    {
      pods: [
        {
          namespace: 'openshift-dns',
          labels: { dns: 'default' },
          ports: [
            { number: 'dns', protocol: 'UDP' },
            { number: 5353, protocol: 'TCP' },
          ],
        },
      ],
      networks: [],
    },
  ],
  [
    'an address that no Service has',
    'nameserver 169.254.20.10\nnameserver fd00::10',
    {},
    { pods: [], networks: ['169.254.20.10/32', 'fd00::10/128'] },
  ],
  [
    'no pod of a Service without a selector',
    'nameserver 10.96.0.10',
    { '10.96.0.10': service('kube-system', undefined, [{ port: 53 }]) },
    { pods: [], networks: [] },
  ],
])('the DNS of the cluster is %s', async (_, resolverConfiguration, services, expected) => {
  expect(await clusterDns(clusterWith(services), resolverConfiguration)).toEqual(expected);
});

it('the DNS of the cluster is where Kubernetes has it for an operator that may not list all Services', async () => {
  const forbidden = new KubeError('services is forbidden', { code: 403, reason: 'Forbidden' });
  expect(await clusterDns({ list: () => Promise.reject(forbidden) }, 'nameserver 10.96.0.10')).toBeUndefined();
});

it('name servers are read once each, without their zone', () => {
  const text =
    '# nameserver 192.0.2.1\n nameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver 10.0.0.1\nnameserver x\n';
  expect(nameServersIn(text)).toEqual(['10.0.0.1', 'fe80::1']);
});
