import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { byEnvironment, byName } from '../cluster/access/client-pod.ts';
import { changeAccess, defaultServiceAccount, startClient, whoAmI } from '../cluster/access/in-cluster-client.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';
import { imagesOf } from '../cluster/workers/pinned-images.ts';
import { single } from '../support/workbench.ts';
import { defaultsFor } from '../../constructs/cluster/versions.ts';
import { until } from '../support/until.ts';
import { installAddon } from '../tools/testbed/addons.ts';
import { addMinor, type FurtherMinor } from '../tools/testbed/further-minor.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { soakMinors } from '../tools/testbed/families.ts';
import { gatewayName } from '../tools/testbed/traefik-objects.ts';
import { addWorker, type Worker } from '../tools/testbed/workers.ts';

const instance = instanceFrom(process.env, inject('testbed'));

/** What each minor serves behind a gateway, the default first. */
const minors = [
  { minor: '1.33', modes: ['Proxy', 'LoadBalancer'] },
  { minor: '1.34', modes: ['Policy', 'Proxy', 'LoadBalancer'] },
] as const;

describe.each(minors)('Kubernetes $minor', ({ minor, modes }) => {
  const [byDefault] = modes;
  let further: FurtherMinor;
  let cluster: JoinableCluster;
  let worker: Worker;

  beforeAll(async () => {
    further = await addMinor(instance, minor, (line) => console.log(line));
    const spec = { ...single, version: further.version, exposure: { gateway: gatewayName } };
    cluster = await openJoinableCluster(`older-${minor.replace('.', '-')}`, spec, (instance) =>
      installAddon(instance, 'traefik', () => {}),
    );
    worker = await addWorker(instance, cluster.api, undefined, { equip: further.equip });
  });
  afterAll(() => cluster?.close());

  test('its own programs serve: the API server, etcd and the kubelet', async () => {
    const { version } = further;
    const { status } = await cluster.bench.get('hosted');
    expect(status?.versions).toEqual([{ version, replicas: 1 }]);
    expect(status?.etcd?.members?.map((member) => member.version)).toEqual([defaultsFor(version).etcd]);
    expect(status?.inClusterAccess).toBe(byDefault);
    const kubelet = ['get', 'node', worker.name, '--output', 'jsonpath={.status.nodeInfo.kubeletVersion}'];
    expect(await cluster.kubectl(kubelet)).toBe(version);
  });

  test('its images with their own versions are those that its kubeadm pins', async () => {
    const { pinned, rendered } = await imagesOf(soakMinors[minor]!);
    expect(pinned).toEqual(expect.arrayContaining(rendered));
  });

  test.each(modes)('a pod runs, and reaches its API server: %s', async (mode) => {
    if (mode !== byDefault) await changeAccess(cluster, mode);
    expect((await cluster.bench.get('hosted')).status?.inClusterAccess).toBe(mode);
    const pod = `by-${mode.toLowerCase()}`;
    await startClient(cluster, pod, worker.name);
    for (const command of [byEnvironment, byName('kubernetes.default.svc')]) {
      const user = () => whoAmI(cluster, pod, command, 10).catch(() => undefined);
      expect(await until('an answer', user)).toBe(defaultServiceAccount);
    }
  });

  test.runIf(minor === '1.33')('a mode that it does not serve is refused, with the reason', async () => {
    const asked = cluster.bench.patch('hosted', { spec: { inClusterAccess: 'Policy' } });
    await expect(asked).rejects.toThrow('inClusterAccess Policy needs Kubernetes 1.34 or newer');
  });

  test.runIf(minor === '1.34')('it serves the policy as v1beta1', async () => {
    await changeAccess(cluster, 'Policy');
    const path = '/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies';
    const { items } = JSON.parse(await cluster.kubectl(['get', '--raw', path])) as { items: unknown[] };
    expect(items).not.toEqual([]);
    expect(await cluster.kubectl(['get', '--raw', path.replace('v1beta1', 'v1')]).catch(String)).toContain('NotFound');
  });
});
