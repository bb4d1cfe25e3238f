import { Secret } from '../../../constructs/api/resources.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/plan.ts';
import type { SecretRole } from '../../../constructs/control-plane/certificates/uses.ts';
import { wayIn } from '../../../constructs/control-plane/exposure/exposure.ts';
import { etcdMemberHost, namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { answeringPods } from '../../pods/answering-pods.ts';
import { users } from '../../../constructs/cluster/workload-identities.ts';
import { isControlledBy } from '../../kube/object.ts';
import type { PodObject } from '../../kube/readiness.ts';
import type { PublishedTrust, ServerTrust } from '../../hosted/published-trust.ts';
import { issueCertificate, type KeyPair, validFor } from '../../pki/issue.ts';
import { authorityOf } from '../../pki/kubeconfig.ts';
import { fingerprint, splitCertificates, trustFingerprint } from '../../pki/pem.ts';
import { type SecretObject, valueOf } from '../../pki/secret.ts';
import { refreshFiles } from '../../pods/refresh-files.ts';
import type { Scope } from '../../phases/scope.ts';
import { askAll, askPods, basisOf, type Laggards, waitingFor } from './pending-consumers.ts';
import { unfinishedRollouts } from '../../pods/rollouts.ts';
import { type RotatedAuthority, trustsSince } from './rotated-ca.ts';
import { isOlderThan, soonerMs } from './reload-delays.ts';
import type { ProbedServer } from './trust-probes.ts';

/** The Secrets of authorities by their role. */
export const authorityRoles = {
  cluster: 'clusterAuthority',
  etcd: 'etcdAuthority',
  proxy: 'proxyAuthority',
} as const satisfies Readonly<Record<string, SecretRole>>;

/** Whoever a successor has signed this for may do nothing anywhere. */
const probeName = 'hosted-control-plane-rotation';
/** The API server takes one name for the front proxy, and etcd none but those of its clients, of which we are one. */
const probeNames = { cluster: probeName, etcd: users.controller, proxy: 'front-proxy-client' } as const;
const probeLifetimeMs = 10 * 60_000;

/**
 * Who does not trust exactly those that the Secret of an authority names. Servers are asked one by one with a client
 * certificate of the successor, as long as that has not signed anything else; the rest is read where it is published.
 */
export async function whoDistrusts(scope: Scope, authority: RotatedAuthority): Promise<Laggards> {
  const { plan, pair } = authority;
  const rollouts = unfinishedRollouts(scope, [authorityRoles[plan.authority]]);
  if (rollouts.length > 0) return waitingFor(rollouts);
  if (plan.authority === 'cluster' && !isInKubeconfig(scope, pair)) return waitingFor(['the kubeconfig']);

  const component = plan.authority === 'etcd' ? 'etcd' : 'api-server';
  const pods = await answeringPods(scope, component);
  if (pods.length === 0) return waitingFor([`${component}: it has no pods that could be asked`]);
  const version = trustFingerprint(pair.certificate);
  await refreshFiles(scope.writer, pods, { purpose: 'certificates', version });
  const answers = askAll(scope, {
    name: `trust in the ${plan.authority} CA`,
    basis: basisOf(version, pods),
    ask: async () => [...(await whoRefuses(scope, authority, pods)), ...(await whoPublishesElse(scope, authority))],
  });
  return answers.kind === 'nobody' ? whoMayTrustTheOldOne(scope, authority, pods) : answers;
}

/** The key of the old one is gone, so that nobody can be asked: pods that were there before have time to read files. */
function whoMayTrustTheOldOne({ now }: Scope, authority: RotatedAuthority, pods: readonly PodObject[]): Laggards {
  const since = trustsSince(authority);
  const until = new Date((since?.getTime() ?? 0) + soonerMs);
  if (!since || isWaiting(authority) || now >= until) return { kind: 'nobody' };
  const old = pods.filter((pod) => isOlderThan(pod, since));
  return waitingFor(
    old.map(({ metadata }) => `${metadata.name} to read again whom it trusts`),
    until,
  );
}

async function whoRefuses(scope: Scope, authority: RotatedAuthority, pods: readonly PodObject[]): Promise<string[]> {
  const { plan, next } = authority;
  // When it signs already, what it has signed is accepted, or nothing would work.
  if (!next || !isWaiting(authority)) return [];
  const { trustProbes, now } = scope;
  const client = await issueCertificate(
    { commonName: probeNames[plan.authority], organizations: [], usages: ['client'], hosts: [] },
    next.pair,
    validFor(probeLifetimeMs, now),
  );
  return askPods(pods, async (address, pod) => {
    if (plan.authority === 'etcd') {
      const isAdmitted = await trustProbes.isAdmitted(etcdServer(scope, pod, address), client);
      return isAdmitted ? undefined : 'does not trust the new one yet';
    }
    const asUser = plan.authority === 'proxy' ? probeName : undefined;
    const user = await trustProbes.userOf(apiServerOf(scope, address), client, asUser);
    return user === probeName ? undefined : 'does not trust the new one yet';
  });
}

/** An API server as one of its pods serves it. */
export function apiServerOf({ cluster, world }: Pick<Scope, 'cluster' | 'world'>, host: string): ProbedServer {
  const secret = world.get<SecretObject>(Secret, namesOf(cluster.name).secrets.clusterAuthority);
  return {
    host,
    port: wayIn(cluster.spec).securePort,
    serverName: apiServiceHost(cluster),
    authority: valueOf(secret, 'tls.crt') ?? '',
  };
}

/** A member of etcd as its pod serves clients. */
export function etcdServer({ cluster, world }: Scope, { metadata: { name } }: PodObject, host: string): ProbedServer {
  const secret = world.get<SecretObject>(Secret, namesOf(cluster.name).secrets.etcdAuthority);
  return {
    host,
    port: ports.etcdClient,
    serverName: etcdMemberHost(cluster, Number(name.slice(name.lastIndexOf('-') + 1))),
    authority: valueOf(secret, 'tls.crt') ?? '',
  };
}

/** A kubeconfig that a user put there is theirs. */
function isInKubeconfig({ cluster, world, hostedControlPlane }: Scope, { certificate }: KeyPair): boolean {
  const secret = world.get<SecretObject>(Secret, namesOf(cluster.name).secrets.kubeconfig);
  if (!secret || !isControlledBy(secret, hostedControlPlane.metadata.uid)) return true;
  return authorityOf(valueOf(secret, 'value')) === certificate;
}

/** ConfigMaps of the hosted cluster that do not name all that are trusted, or name others. */
async function whoPublishesElse(scope: Scope, authority: RotatedAuthority): Promise<string[]> {
  const { plan, pair } = authority;
  if (plan.authority === 'etcd') return [];
  const hosted = scope.hosted(scope.facts);
  const server: ServerTrust = plan.authority === 'cluster' ? 'clients' : 'front-proxy';
  const kinds: readonly PublishedTrust['kind'][] =
    plan.authority === 'cluster' ? ['root', 'cluster-info', server] : [server];
  const published = (await hosted.publishedTrust()).filter(({ kind }) => kinds.includes(kind));
  const others = published.filter(({ kind, text }) => !says(kind, text, pair.certificate));
  // Before it signs, what stands there besides is what is being added.
  const mayTakeAway = !isWaiting(authority);
  const isServers = ({ kind }: PublishedTrust) => kind === server;
  if (mayTakeAway && others.some(isServers)) await hosted.republishTrust(server, pair.certificate);
  return others
    .filter((one) => mayTakeAway || !isServers(one) || !names(one.text, pair.certificate))
    .map(({ configMap }) => `ConfigMap ${configMap}, which is not up to date yet`);
}

/** Whether the text names exactly these. */
function says(kind: PublishedTrust['kind'], text: string, wanted: string): boolean {
  const given = kind === 'cluster-info' ? (authorityOf(text) ?? '') : text;
  return names(given, wanted) && splitCertificates(given).length === splitCertificates(wanted).length;
}

function names(text: string, wanted: string): boolean {
  const given = splitCertificates(text).map(fingerprint);
  return splitCertificates(wanted).every((one) => given.includes(fingerprint(one)));
}

/** The successor has not signed anything yet but what it is proved with. */
function isWaiting({ pair, next }: RotatedAuthority): boolean {
  return next !== undefined && next.pair.key !== pair.key;
}
