import { Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { isReady, type PodObject } from '../kube/readiness.ts';
import { pairOf, type SecretObject } from '../pki/secret.ts';
import type { Reader } from '../management/view.ts';
import { MemberClient } from './client.ts';
import { type EtcdCredentials } from './member-endpoint.ts';
import type { KnownMember } from './observe.ts';

/** Every call to one etcd member. Tests put a member in memory in the client's place. */
export type MemberCalls = Pick<MemberClient, keyof MemberClient>;

/** Clients of an etcd cluster, each opened when it is asked for. */
export interface EtcdAccess {
  /** The client of a member; undefined for one that cannot be there, such as one without a pod. */
  readonly clients: (name: string) => MemberCalls | undefined;
  /** Closes all of them. */
  close(): void;
}

/**
 * Ways to the members of a cluster's etcd, from what the watches know. Pods are dialled by address, so that it works
 * without cluster DNS too, and the member's name is verified all the same.
 * @throws when a certificate is missing, which the phases before have made sure of.
 */
export function openEtcd(cluster: { readonly name: string; readonly namespace: string }, reader: Reader): EtcdAccess {
  const credentials = etcdCredentials(cluster.name, reader);
  const pods = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd'));
  const opened = new Map<string, MemberClient>();
  return {
    clients(name) {
      const known = opened.get(name);
      if (known) return known;
      const pod = pods.find(({ metadata }) => metadata.name === name);
      const host = pod?.status?.podIP;
      if (!pod || !host || pod.metadata.deletionTimestamp) return undefined;
      const address = `${host.includes(':') ? `[${host}]` : host}:${ports.etcdClient}`;
      const ordinal = Number(name.slice(name.lastIndexOf('-') + 1));
      const client = new MemberClient({ name, address, serverName: etcdMemberHost(cluster, ordinal) }, credentials);
      opened.set(name, client);
      return client;
    },
    close() {
      for (const client of opened.values()) client.close();
      opened.clear();
    },
  };
}

/** Members whose pods are Ready, as far as clients need to know them. */
export function readyMembers(
  cluster: { readonly name: string; readonly namespace: string },
  reader: Reader,
): Pick<KnownMember, 'ordinal' | 'name' | 'peerUrl'>[] {
  return reader
    .list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd'))
    .filter(isReady)
    .map(({ metadata: { name } }) => {
      const ordinal = Number(name.slice(name.lastIndexOf('-') + 1));
      return { ordinal, name, peerUrl: `https://${etcdMemberHost(cluster, ordinal)}:${ports.etcdPeer}` };
    });
}

/** Our own identity for etcd, and whom to trust. @throws when a Secret is missing. */
export function etcdCredentials(cluster: string, reader: Reader): EtcdCredentials {
  const { secrets } = namesOf(cluster);
  const certificateAuthority = pairOf(reader.get<SecretObject>(Secret, secrets.etcdCA));
  const pair = pairOf(reader.get<SecretObject>(Secret, secrets.etcdController));
  if (!certificateAuthority || !pair)
    throw new Error(`Secret ${secrets.etcdCA} or ${secrets.etcdController} is gone again`);
  return { ca: certificateAuthority.certificate, cert: pair.certificate, key: pair.key };
}
