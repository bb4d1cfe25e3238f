import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BootstrapToken, createBootstrapToken, untilSigned } from '../tools/testbed/bootstrap-token.ts';
import type { JoinTimeouts } from '../tools/testbed/join-configuration.ts';
import { joinMachine } from '../tools/testbed/join.ts';
import { addMachine, removeMachine } from '../tools/testbed/node-machines.ts';
import { type JoinableCluster, openJoinableCluster } from '../cluster/workers/joinable-cluster.ts';

/** The reason that an administrator reads: kubeadm's own words, or those of the kubelet that it waits for. */
interface MissingObject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly message: RegExp;
}

const missing: readonly MissingObject[] = [
  {
    kind: 'ConfigMap',
    namespace: 'kube-public',
    name: 'cluster-info',
    message: /failed to request the cluster-info ConfigMap: configmaps "cluster-info" not found/,
  },
  {
    kind: 'RoleBinding',
    namespace: 'kube-public',
    name: 'kubeadm:bootstrap-signer-clusterinfo',
    message: /configmaps "cluster-info" is forbidden: User "system:anonymous" cannot get/,
  },
  {
    kind: 'ConfigMap',
    namespace: 'kube-system',
    name: 'kubeadm-config',
    message: /configmaps "kubeadm-config" not found/,
  },
  {
    kind: 'RoleBinding',
    namespace: 'kube-system',
    name: 'kubeadm:nodes-kubeadm-config',
    message: /configmaps "kubeadm-config" is forbidden: User "system:bootstrap:\w{6}" cannot get/,
  },
  {
    kind: 'ConfigMap',
    namespace: 'kube-system',
    name: 'kubelet-config',
    message: /configmaps "kubelet-config" not found/,
  },
  {
    kind: 'RoleBinding',
    namespace: 'kube-system',
    name: 'kubeadm:kubelet-config',
    message: /configmaps "kubelet-config" is forbidden: User "system:bootstrap:\w{6}" cannot get/,
  },
  {
    kind: 'ClusterRoleBinding',
    name: 'kubeadm:get-nodes',
    message: /cannot get Node "refused": nodes "refused" is forbidden: User "system:bootstrap:\w{6}" cannot get/,
  },
  {
    kind: 'ClusterRoleBinding',
    name: 'kubeadm:kubelet-bootstrap',
    message: /certificatesigningrequests\S* is forbidden: User \\"system:bootstrap:\w{6}\\" cannot create/,
  },
  {
    kind: 'ClusterRoleBinding',
    name: 'kubeadm:node-autoapprove-bootstrap',
    message: /failed while waiting for TLS bootstrap/,
  },
];

/** Enough for an answer, and no more: kubeadm's own timeouts are minutes, and a missing object does not appear. */
const timeouts = { discovery: '2s', tlsBootstrap: '4s', kubernetesAPICall: '2s' };

let cluster: JoinableCluster;
let token: BootstrapToken;

beforeAll(async () => {
  cluster = await openJoinableCluster('refused');
  token = await createBootstrapToken(cluster.api.client);
  await untilSigned(cluster.api.client, token);
  // objects that a test removes must stay away until the test restores them
  await cluster.setPaused(true);
});
afterAll(async () => {
  // a paused cluster is not deleted either
  await cluster.setPaused(false);
  await cluster.close();
});

test.for(missing)('without $kind $name a join fails and reports that', async ({ kind, namespace, name, message }) => {
  const object = [...(namespace ? ['--namespace', namespace] : []), kind.toLowerCase(), name];
  const saved = await cluster.kubectl(['get', ...object, '--output', 'json']);
  await cluster.kubectl(['delete', ...object]);
  try {
    await expect(join()).rejects.toThrow(message);
  } finally {
    await cluster.apply(withoutIdentity(saved));
  }
});

test('with a token that the cluster does not have a join fails and reports that', async () => {
  const unknown = { id: 'absent', secret: '0123456789abcdef' };
  const message = 'could not find a JWS signature in the cluster-info ConfigMap for token ID "absent"';
  await expect(join(unknown)).rejects.toThrow(message);
});

test('with all of them a machine joins', async () => {
  await expect(join(token, {})).resolves.not.toThrow();
});

/** Joins a new machine, which is removed afterwards: its node may stay without a kubelet. */
async function join(shown = token, limits: JoinTimeouts = timeouts): Promise<void> {
  const { instance, api } = cluster;
  const machine = await addMachine(instance, 'refused');
  try {
    await joinMachine(machine, api, shown, limits);
  } finally {
    await removeMachine(instance, machine.name);
  }
}

/** The object in a form that can be created again. */
function withoutIdentity(json: string): object {
  const object = JSON.parse(json) as { metadata: Record<string, unknown> };
  for (const field of ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields']) delete object.metadata[field];
  return object;
}
