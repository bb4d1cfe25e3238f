import { Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels, selectorOf } from '../../constructs/cluster/labels.ts';
import { etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { etcdCredentials } from '../etcd/access.ts';
import { MemberClient } from '../etcd/client.ts';
import type { KubeObject } from '../kube/object.ts';
import { isReady, type PodObject } from '../kube/readiness.ts';
import { type CommandAccess, forwardingPort } from './access.ts';
import type { Session } from './command.ts';

/** What this needs in the namespace of the control plane. */
export const readingEtcd: readonly CommandAccess[] = [
  { resource: Pod, verbs: ['list'], why: 'finding the members of etcd' },
  { resource: Secret, verbs: ['get'], why: 'a client certificate of etcd' },
  forwardingPort('etcd'),
];

/**
 * Works with a member of etcd, through a forwarded port of its pod. The API servers need not answer.
 * @throws when no member is ready, or the user may not read its certificates
 */
export async function withEtcdMember<T>(
  { client, namespace, forward }: Session,
  cluster: string,
  work: (member: MemberClient) => Promise<T>,
): Promise<T> {
  const labelSelector = selectorOf(selectorLabels(cluster, 'etcd'));
  const { items } = await client.list<PodObject>(Pod, { namespace, labelSelector });
  const pod = items.find(isReady)?.metadata.name;
  if (pod === undefined) throw new Error('no member of etcd is ready');
  const { etcdCA, etcdController } = namesOf(cluster).secrets;
  const names = [etcdCA, etcdController];
  const secrets = await Promise.all(names.map((name) => client.find(Secret, { namespace, name })));
  const get = <O extends KubeObject>(_: Resource, name: string) => secrets[names.indexOf(name)] as O | undefined;
  const credentials = etcdCredentials(cluster, { get });
  const forwarded = await forward({ namespace, pod, port: ports.etcdClient });
  const ordinal = Number(pod.slice(pod.lastIndexOf('-') + 1));
  const serverName = etcdMemberHost({ name: cluster, namespace }, ordinal);
  const member = new MemberClient({ name: pod, address: `127.0.0.1:${forwarded.port}`, serverName }, credentials);
  try {
    return await work(member);
  } finally {
    member.close();
    forwarded.close();
  }
}
