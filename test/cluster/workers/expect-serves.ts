import { expect } from 'vitest';
import { until } from '../../support/until.ts';
import type { Worker } from '../../tools/testbed/workers.ts';
import { byEnvironment, clientPod } from '../access/client-pod.ts';
import { defaultServiceAccount, whoAmI } from '../access/in-cluster-client.ts';
import type { JoinableCluster } from './joinable-cluster.ts';

/** A node of this version runs a pod, which is reached through konnectivity, and which reaches its API server. */
export async function expectServes(cluster: JoinableCluster, { name }: Worker, version: string): Promise<void> {
  const kubelet = ['get', 'node', name, '--output', 'jsonpath={.status.nodeInfo.kubeletVersion}'];
  expect(await cluster.kubectl(kubelet)).toBe(version);
  const pod = `on-${name}`;
  await cluster.apply(clientPod(cluster.instance, pod, name));
  await cluster.kubectl(['wait', `pod/${pod}`, '--for=condition=Ready', '--timeout=60s']);
  const ask = () => whoAmI(cluster, pod, byEnvironment, 10).catch(() => undefined);
  expect(await until('the API server to answer the pod', ask)).toBe(defaultServiceAccount);
}
