import { ports } from '../../constructs/cluster/ports.ts';
import { checkBareSnapshot } from '../backup/bare-snapshot.ts';
import type { ClusterBackups } from '../backup/cluster-backups.ts';
import type { DatabaseFacts } from '../backup/etcd-database.ts';
import { MemberClient } from '../etcd/client.ts';
import type { EtcdCredentials } from '../etcd/etcd3-client.ts';
import { messageOf } from '../kube/error-message.ts';
import type { ImportContext } from './import-context.ts';
import { podsOf, type Workload } from './observe-import.ts';
import type { EtcdPlace } from './other-control-plane.ts';
import { readEtcdCredentials } from './read-other.ts';

/**
 * Stores a snapshot of the other provider's etcd, which no API server changes any more, under this name.
 * @throws a sentence for the user if no member provides one, and the errors of the store
 */
export async function storeSnapshot(
  context: ImportContext,
  place: EtcdPlace,
  backups: ClusterBackups,
  name: string,
): Promise<void> {
  const { client, namespace } = context;
  const credentials = await readEtcdCredentials(context, place);
  const set = await client.find<Workload>(place.set.resource, { namespace, name: place.set.name });
  const problems: string[] = [];
  for (const { metadata } of set ? await podsOf(context, set) : []) {
    try {
      return await storeFrom(metadata.name, context, credentials, (snapshot) =>
        backups.writeBareSnapshot(name, snapshot),
      );
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new Error(`no snapshot was stored: ${problems.join('; ') || `StatefulSet ${place.set.name} has no pods`}`);
}

async function storeFrom(
  pod: string,
  { namespace, forward }: ImportContext,
  credentials: EtcdCredentials,
  store: (snapshot: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const forwarded = await forward({ namespace, pod, port: ports.etcdClient });
  // Both providers have this name in the certificate of every member.
  const member = new MemberClient(
    { name: pod, address: `127.0.0.1:${forwarded.port}`, serverName: 'localhost' },
    credentials,
  );
  try {
    const { status } = await member.status();
    if (status.leaderId === undefined) throw new Error(`etcd member ${pod} has no leader`);
    await store(member.snapshot());
  } finally {
    member.close();
    forwarded.close();
  }
}

/**
 * Reads a stored snapshot to its end: while the other provider's etcd still runs, another one can be taken.
 * @throws a sentence for the user if it cannot be restored
 */
export async function checkSnapshot(backups: ClusterBackups, name: string): Promise<DatabaseFacts> {
  return checkBareSnapshot(name, await backups.bareSnapshot(name));
}
