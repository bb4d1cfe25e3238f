import type { PodObject, SecretObject } from '../../imports/kubernetes.ts';
import { Pod, Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdMemberHost, namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { etcdHTTPPortName } from '../../constructs/control-plane/etcd/etcd.ts';
import { isReady } from '../kube/readiness.ts';
import { pairOf } from '../pki/secret.ts';
import type { Reader } from '../clusters/management/view.ts';
import { MemberClient } from './client.ts';
import type { EtcdCredentials } from './etcd3-client.ts';
import { etcdPeerUrl, ordinalOf } from './member-objects.ts';
import { healthyVoters, leaderOf, type MemberStatus } from './members.ts';
import { type KnownMember, observeEtcd } from './observe-members.ts';

/** All calls to one etcd member. Tests replace the client with a member in memory. */
export type MemberCalls = Pick<MemberClient, keyof MemberClient>;

/** Clients of an etcd cluster. Each is opened on first use. */
export interface EtcdAccess<Calls = MemberCalls> {
  /** The client of a member; undefined if the member cannot be reached, such as without a pod. */
  readonly clients: (name: string) => Calls | undefined;
  /** Closes all of them. */
  close(): void;
}

/** Opens clients of the members of an etcd cluster; see {@link openEtcd}. */
export type OpenEtcd<Calls = MemberCalls> = (...args: Parameters<typeof openEtcd>) => EtcdAccess<Calls>;

/**
 * Opens clients of the members of an etcd cluster, from what the watches know. They dial pods by address, so that they
 * work without cluster DNS, and still verify the member's name.
 * @throws when a certificate is missing, which earlier phases ensure
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
      const at = (port: number) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const [address, httpAddress] = [at(ports.etcdClient), at(etcdHTTPPort(pod))];
      const serverName = etcdMemberHost(cluster, ordinalOf(name));
      const client = new MemberClient({ name, address, httpAddress, serverName }, credentials);
      opened.set(name, client);
      return client;
    },
    close() {
      for (const client of opened.values()) client.close();
      opened.clear();
    },
  };
}

/** Members with Ready pods, with the fields that clients need. */
export function readyMembers(
  cluster: { readonly name: string; readonly namespace: string },
  reader: Reader,
): Pick<KnownMember, 'ordinal' | 'name' | 'peerUrl'>[] {
  return reader
    .list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd'))
    .filter(isReady)
    .map(({ metadata: { name } }) => {
      const ordinal = ordinalOf(name);
      return { ordinal, name, peerUrl: etcdPeerUrl(cluster, ordinal) };
    });
}

/** The member to take a snapshot of, with its status. */
interface SnapshotSource {
  readonly name: string;
  readonly client: MemberCalls;
  readonly status: MemberStatus;
}

/**
 * A healthy follower that is caught up, or else the leader: reading the whole database slows a member down, and all
 * writes go through the leader.
 * @throws a sentence for the user if etcd has no leader or no member answers
 */
export async function snapshotSource(
  known: readonly Pick<KnownMember, 'ordinal' | 'name' | 'peerUrl'>[],
  clients: EtcdAccess['clients'],
): Promise<SnapshotSource> {
  const members = known.map((member) => ({ ...member, pod: undefined, claim: undefined }));
  const observation = await observeEtcd(members, clients);
  const leader = leaderOf(observation)?.name;
  const [chosen] = healthyVoters(observation).toSorted(
    (one, other) =>
      Number(one.name === leader) - Number(other.name === leader) ||
      (other.status?.raftAppliedIndex ?? 0) - (one.status?.raftAppliedIndex ?? 0),
  );
  const client = chosen && clients(chosen.name);
  if (chosen?.status && client) return { name: chosen.name, client, status: chosen.status };
  const problems = observation.members.flatMap(({ problem }) => (problem ? [problem] : []));
  throw new Error(`no etcd member can provide a snapshot: ${problems.join('; ') || 'no member follows a leader'}`);
}

/** The port at which a member serves HTTP: that of its clients in pods of the first release revision. */
export function etcdHTTPPort({ spec }: PodObject): number {
  const declared = spec?.containers?.flatMap((container) => container.ports ?? []) ?? [];
  return declared.find(({ name }) => name === etcdHTTPPortName)?.containerPort ?? ports.etcdClient;
}

/** The operator's identity for etcd, and the CA that it trusts. @throws when a Secret is missing */
export function etcdCredentials(cluster: string, reader: Pick<Reader, 'get'>): EtcdCredentials {
  const { secrets } = namesOf(cluster);
  const caSecret = reader.get<SecretObject>(Secret, secrets.etcdCA);
  const own = reader.get<SecretObject>(Secret, secrets.etcdController);
  const before = own && knownCredentials.get(own);
  if (before && before.caSecret === caSecret) return before.credentials;
  const [ca, pair] = [pairOf(caSecret), pairOf(own)];
  if (!caSecret || !own || !ca || !pair)
    throw new Error(`Secret ${secrets.etcdCA} or ${secrets.etcdController} no longer exists`);
  const credentials = { ca: ca.certificate, cert: pair.certificate, key: pair.key };
  knownCredentials.set(own, { caSecret, credentials });
  return credentials;
}

/** By the version of the Secret with the operator's certificate: while both are the same, so are the credentials. */
const knownCredentials = new WeakMap<
  SecretObject,
  { readonly caSecret: SecretObject; readonly credentials: EtcdCredentials }
>();
