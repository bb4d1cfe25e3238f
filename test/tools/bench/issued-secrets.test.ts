import { expect, it } from 'vitest';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { networkOf } from '../../../constructs/cluster/cluster.ts';
import { workloadsOf } from '../../support/rendered-objects.ts';
import { issueSecrets } from './issued-secrets.ts';

const endpoint = { host: '192.0.2.10', port: 6443 };
const cluster = {
  name: 'floor',
  namespace: 'bench-floor',
  network: networkOf(undefined),
  spec: HostedControlPlaneSpec.parse({ version: 'v1.36.3', exposure: { loadBalancer: {} } }),
};
const { objects, facts, kubeconfig } = await issueSecrets(cluster, endpoint);

it('the floor has every key of every Secret that its pods mount, or the kubelet would never start them', () => {
  const present = new Map(objects.map(({ metadata, data }) => [metadata.name, Object.keys(data as object)]));
  const workloads = workloadsOf(renderControlPlane(cluster, { ...facts, advertiseAddress: endpoint.host }));
  const mounted = workloads.flatMap(({ pod }) =>
    (pod.volumes ?? []).flatMap(({ secret, projected }) => [
      ...(secret ? [{ name: secret.secretName, items: secret.items }] : []),
      ...(projected?.sources ?? []).flatMap((source) => (source.secret ? [source.secret] : [])),
    ]),
  );
  expect(mounted.length).toBeGreaterThan(10);
  const absent = mounted.flatMap(({ name = '', items }) =>
    present.has(name)
      ? (items ?? []).filter(({ key }) => !present.get(name)?.includes(key)).map(({ key }) => `${key} of ${name}`)
      : [name],
  );
  expect(absent).toEqual([]);
});

it('the Secrets of the floor have no owner, or the garbage collector would delete them', () => {
  expect(objects.filter(({ metadata }) => metadata.ownerReferences)).toEqual([]);
  expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['bench-floor']));
});

it("the administrator's kubeconfig of the floor contains its address", () => {
  expect(kubeconfig).toContain('https://192.0.2.10:6443');
});
