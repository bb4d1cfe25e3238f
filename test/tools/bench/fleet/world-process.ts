/**
 * Everything outside of the operator that a fleet needs, but its management API server: it reads a {@link WorldRequest} from each line of its
 * input, and writes one line when it is done. Kubernetes' controllers run no pod; one server answers for etcd's members, another one for the hosted API servers.
 */
import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { clusterNameLabel } from '../../../../constructs/api/group.ts';
import { Secret, Service } from '../../../../constructs/api/resources.ts';
import { componentLabel } from '../../../../constructs/cluster/labels.ts';
import { type Names, namesOf } from '../../../../constructs/cluster/names.ts';
import { ports } from '../../../../constructs/cluster/ports.ts';
import { etcdPeerUrl } from '../../../../reconciler/etcd/member-objects.ts';
import { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { connect, loadKubeConfig } from '../../../../reconciler/kube/config.ts';
import { Informer } from '../../../../reconciler/kube/informer.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import { pairOf } from '../../../../reconciler/pki/secret.ts';
import { AddressServer } from './address-server.ts';
import { Controllers } from './controllers.ts';
import { answerEtcd, etcdVersions } from './etcd-answers.ts';
import { HostedApi } from './hosted-apis.ts';
import { HostileServers } from './hostile-servers.ts';
import { HostileUsers } from './hostile-users.ts';
import type { HostileCluster, WorldRequest } from './world.ts';

/** What listens at an address. */
interface Place {
  readonly namespace: string;
  readonly cluster: string;
  /** Name of the pod or of the Service. */
  readonly name: string;
}

const requests = createInterface(process.stdin)[Symbol.asyncIterator]();
const next = async (): Promise<WorldRequest> => JSON.parse((await requests.next()).value ?? '{}') as WorldRequest;
const first = await next();
if (first.kind !== 'start') throw new Error(`it is not started yet: ${first.kind}`);
const { kubeconfig } = first;
const snapshot = readFileSync(first.snapshot);
const client = new KubeClient(await connect(loadKubeConfig(kubeconfig)));

const places = new Map<string, Place>();
let taken = 0;
const addresses = {
  take(owner: KubeObject): string {
    taken += 1;
    const address = `10.${200 + (taken >> 16)}.${(taken >> 8) & 255}.${taken & 255}`;
    places.set(address, placeOf(owner));
    return address;
  },
};

function placeOf({ metadata }: KubeObject): Place {
  const { namespace = '', name, labels } = metadata;
  return { namespace, name, cluster: labels?.[clusterNameLabel] ?? '' };
}

const secrets = new Informer<SecretObject>({
  client,
  clock: systemClock,
  resource: Secret,
  labelSelector: `${clusterNameLabel},${componentLabel}`,
  keep: (secret) => (/-(apiserver|etcd-server)$/.test(secret.metadata.name) ? secret : { ...secret, data: undefined }),
});
const pairs = new WeakMap<SecretObject, KeyPair>();

function certificateOf(place: Place | undefined, secretOf: (names: Names['secrets']) => string): KeyPair | undefined {
  if (!place) return undefined;
  const secret = secrets.get({ namespace: place.namespace, name: secretOf(namesOf(place.cluster).secrets) });
  const pair = (secret && pairs.get(secret)) ?? pairOf(secret);
  if (secret && pair) pairs.set(secret, pair);
  return pair;
}

const services = new Informer<KubeObject & { spec?: { clusterIP?: string } }>({
  client,
  clock: systemClock,
  resource: Service,
  labelSelector: `${clusterNameLabel},${componentLabel}`,
});
services.onChange(({ object }) => {
  const address = object.spec?.clusterIP;
  if (address && address !== 'None') places.set(address, placeOf(object));
});

const hostileServers = new HostileServers(first.snapshot);

const hosted = new Map<string, HostedApi>();
function hostedApi({ namespace, cluster }: Pick<Place, 'namespace' | 'cluster'>): HostedApi {
  const key = `${namespace}/${cluster}`;
  const api = hosted.get(key) ?? new HostedApi();
  hosted.set(key, api);
  return api;
}

function memberAt(address: string): { readonly name: string; readonly peerUrl: string } {
  const { name = '', namespace = '', cluster = '' } = places.get(address) ?? {};
  return { name, peerUrl: etcdPeerUrl({ name: cluster, namespace }, ordinalIn(name)) };
}

/** All members with the one at an address, which have started together: the pods of a set have names that end in their ordinals. */
function membersAt(address: string) {
  const { name = '', namespace = '', cluster = '' } = places.get(address) ?? {};
  return Array.from({ length: controllers.sizeOf(namespace, name.slice(0, name.lastIndexOf('-'))) }, (_, ordinal) => ({
    name: `${name.slice(0, name.lastIndexOf('-'))}-${ordinal}`,
    peerUrl: etcdPeerUrl({ name: cluster, namespace }, ordinal),
  }));
}

/** Leaves a connection to the hostile servers, if the cluster at this address has them. */
function divert(server: 'api' | 'etcd', socket: Socket, address: string, pair: KeyPair): boolean {
  const hostile = hostileServers.in(places.get(address)?.namespace ?? '');
  if (!hostile || (server === 'api' && !hostile.hasHostileApi)) return false;
  hostileServers.take(socket, { server, worksUntil: hostile.worksUntil, pair, member: memberAt(address) });
  return true;
}

let etcdCalls = 0;
const controllers = new Controllers(client, addresses);

const ofEtcd = {
  certificateAt: (address: string) => certificateOf(places.get(address), ({ etcdServer }) => etcdServer),
  divert: (socket: Socket, address: string, pair: KeyPair) => divert('etcd', socket, address, pair),
};
const listeners = [
  new AddressServer({
    ...ofEtcd,
    port: ports.etcdClient,
    answer: (request, response, address) => {
      etcdCalls += 1;
      const ordinal = ordinalIn(memberAt(address).name);
      answerEtcd(request, response, { ordinal, members: membersAt(address), snapshot });
    },
  }),
  new AddressServer({
    ...ofEtcd,
    port: ports.etcdHTTP,
    plainAnswer: (response) => {
      etcdCalls += 1;
      response.end(etcdVersions);
    },
  }),
  new AddressServer({
    port: ports.api,
    certificateAt: (address) => certificateOf(places.get(address), ({ apiServer }) => apiServer),
    divert: (socket, address, pair) => divert('api', socket, address, pair),
    answer: (request, response, address) => {
      const place = places.get(address);
      if (place) void hostedApi(place).answer(request, response);
    },
    plainAnswer: 'ok',
  }),
];

function ordinalIn(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

secrets.start();
services.start();
await Promise.all([secrets.synced, services.synced]);
await controllers.start();
console.log('ready');

/** Connections to servers that turn hostile, or good, would stay what they were. */
function poison(clusters: readonly HostileCluster[]): void {
  hostileServers.poison(clusters);
  for (const listener of listeners)
    listener.endConnections((address) => hostileServers.in(places.get(address)?.namespace ?? '') !== undefined);
}

let users: readonly HostileUsers[] = [];
for (;;) {
  const request = await next();
  if (request.kind === 'count') console.log(etcdCalls);
  else if (request.kind === 'harass') {
    users = request.clusters.map((cluster) => new HostileUsers(hostedApi(cluster).client));
    for (const user of users) user.start();
    console.log('begun');
  } else if (request.kind === 'leaveInPeace') {
    const changes = await Promise.all(users.map((user) => user.stop()));
    console.log(changes.reduce((sum, count) => sum + count, 0));
  } else if (request.kind === 'serve') {
    hostileServers.serve({ pair: request.pair, patientStores: request.patientStores });
    console.log('begun');
  } else if (request.kind === 'poison') {
    poison(request.clusters);
    console.log('begun');
  } else if (request.kind === 'heal') {
    hostileServers.poison([]);
    console.log(JSON.stringify(await hostileServers.answers()));
  }
}
