import { isDeepStrictEqual } from 'node:util';
import {
  HostedControlPlane,
  PersistentVolumeClaim,
  Pod,
  Secret,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import type { MemoryCluster } from '../loop/memory-cluster.ts';
import { usesClaim } from '../memory-cluster/controllers/claim-protection.ts';
import type { StoredObject } from '../memory-objects.ts';

/** A volume with data, and what its data need. */
interface Volume {
  readonly name: string;
  readonly of: MemoryCluster;
  /** Data of Secrets by their names. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** Uid of the HostedControlPlane whose etcd has used it last. */
  readonly user: string | undefined;
}

interface Wanted extends StoredObject {
  readonly spec?: { readonly etcd?: { readonly volumeRetention?: string } };
}

/**
 * Knows every volume of etcd that has ever been used, from the objects alone, and what may never happen to it. What the operator
 * notes on objects is not asked: it may be wrong.
 */
export class Ledger {
  readonly #clusters: readonly MemoryCluster[];
  /** By uid of the claim. */
  readonly #volumes = new Map<string, Volume>();
  /** Uids of claims that may go, because their user is deleted with them, or a person has deleted them. */
  readonly #released = new Set<string>();
  #seen = -1;

  constructor(clusters: readonly MemoryCluster[]) {
    this.#clusters = clusters;
    this.check();
  }

  /** A person has deleted a claim by name. */
  release({ metadata: { uid = '' } }: KubeObject): void {
    this.#released.add(uid);
  }

  /** A person has saved a claim from its deletion. */
  keep({ metadata: { uid = '' } }: KubeObject): void {
    this.#released.delete(uid);
  }

  /** @throws when a key is lost that a volume needs, or a claim is deleted that no user who may has deleted */
  check(): void {
    const { version } = this.#clusters[0]!.management.store;
    if (version === this.#seen) return;
    this.#seen = version;
    for (const cluster of this.#clusters) {
      this.#note(cluster);
      this.#checkVolumes(cluster);
    }
  }

  #note(cluster: MemoryCluster): void {
    const own = cluster.objects.get<Wanted>(HostedControlPlane, cluster.name.name);
    const user = runningUser(cluster);
    const keys = keysOf(cluster);
    for (const { metadata } of claimsOf(cluster)) {
      const { uid = '', name } = metadata;
      const known = this.#volumes.get(uid);
      const isMounted = podsOf(cluster).some((pod) => usesClaim(pod, name));
      if (!known && keys && isMounted && user !== undefined) this.#volumes.set(uid, { name, of: cluster, keys, user });
      else if (known && isMounted && user !== undefined) this.#volumes.set(uid, { ...known, user });
    }
    const isGoing = own?.metadata.deletionTimestamp !== undefined;
    if (!isGoing || own?.spec?.etcd?.volumeRetention === 'Retain') return;
    for (const [uid, volume] of this.#volumes)
      if (volume.of === cluster && volume.user === own?.metadata.uid) this.#released.add(uid);
  }

  #checkVolumes(cluster: MemoryCluster): void {
    const claims = new Map(claimsOf(cluster).map((claim) => [claim.metadata.uid, claim]));
    const secrets = new Map(
      cluster.objects.list<StoredObject>(Secret, {}).map(({ metadata, data }) => [metadata.name, data]),
    );
    for (const [uid, { name, of, keys }] of this.#volumes) {
      if (of !== cluster) continue;
      const claim = claims.get(uid);
      if (!this.#released.has(uid) && (!claim || claim.metadata.deletionTimestamp))
        throw new Error(`volume claim ${name} was deleted, which only its user may do`);
      if (!claim) this.#volumes.delete(uid);
      else if (!claim.metadata.deletionTimestamp) requireKeys(name, keys, secrets);
    }
  }
}

function requireKeys(
  volume: string,
  keys: Readonly<Record<string, unknown>>,
  secrets: ReadonlyMap<string, unknown>,
): void {
  for (const [name, data] of Object.entries(keys)) {
    const found = [name, `${name}-copy`].some((one) => isDeepStrictEqual(secrets.get(one), data));
    if (!found) throw new Error(`the content of Secret ${name} is lost, which the data of ${volume} need`);
  }
}

function keysOf({ objects, place }: MemoryCluster): Readonly<Record<string, unknown>> | undefined {
  const { encryption, clusterCA, etcdCA, frontProxyCA, serviceAccount } = namesOf(place.cluster).secrets;
  const names = [encryption, clusterCA, etcdCA, frontProxyCA, serviceAccount];
  const secrets = names.flatMap((name) => objects.get<StoredObject>(Secret, name) ?? []);
  if (secrets.length < names.length) return undefined;
  return Object.fromEntries(secrets.map(({ metadata, data }) => [metadata.name, data]));
}

const claimsOf = ({ objects, place }: MemoryCluster): KubeObject[] =>
  objects.list(PersistentVolumeClaim, selectorLabels(place.cluster, 'etcd'));
const podsOf = ({ objects, place }: MemoryCluster): KubeObject[] =>
  objects.list(Pod, selectorLabels(place.cluster, 'etcd'));

/** The uid of the HostedControlPlane that owns the etcd that runs. */
function runningUser(cluster: MemoryCluster): string | undefined {
  const set = cluster.objects.get(StatefulSet, namesOf(cluster.place.cluster).etcd);
  return set?.metadata.ownerReferences?.find(({ kind }) => kind === HostedControlPlane.kind)?.uid;
}
