import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { Etcd3 } from 'etcd3';
import { Pod, Secret } from '../../constructs/api/resources.ts';
import { etcdMember, etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { pairOf } from '../../reconciler/pki/secret.ts';
import type { Workbench } from './workbench.ts';

/** What etcd stores, read without API servers: the bytes of every Secret of a hosted cluster, by `namespace/name`. */
export async function storedSecrets(bench: Workbench, cluster: string): Promise<Map<string, Buffer>> {
  const { client, namespace } = bench;
  const { secrets } = namesOf(cluster);
  const pair = async (name: string) => {
    const found = pairOf(await client.find<SecretObject>(Secret, { namespace, name }));
    if (!found) throw new Error(`there is no Secret ${namespace}/${name}`);
    return found;
  };
  const [certificateAuthority, own] = await Promise.all([pair(secrets.etcdCA), pair(secrets.etcdController)]);
  const pod = await client.get<PodObject>(Pod, { namespace, name: etcdMember(cluster, 0) });
  const serverName = etcdMemberHost({ name: cluster, namespace }, 0);
  const etcd = new Etcd3({
    hosts: `https://${pod.status?.podIP}:${ports.etcdClient}`,
    credentials: {
      rootCertificate: Buffer.from(certificateAuthority.certificate),
      certChain: Buffer.from(own.certificate),
      privateKey: Buffer.from(own.key),
    },
    grpcOptions: { 'grpc.ssl_target_name_override': serverName, 'grpc.default_authority': serverName },
  });
  try {
    const prefix = '/registry/secrets/';
    const found = await etcd.getAll().prefix(prefix).buffers();
    return new Map(Object.entries(found).map(([key, value]) => [key.slice(prefix.length), value]));
  } finally {
    etcd.close();
  }
}

/** The keys that Secrets are encrypted with, and the number of Secrets per key; `clear` for unencrypted ones. */
export function storedUnder(secrets: ReadonlyMap<string, Buffer>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of secrets.values()) {
    const key = /^k8s:enc:secretbox:v1:([^:]+):/.exec(value.subarray(0, 100).toString('latin1'))?.[1] ?? 'clear';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
