import { Secret } from '../../../constructs/api/resources.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/plan.ts';
import type { SecretRole } from '../../../constructs/control-plane/certificates/uses.ts';
import { exposureStrategy } from '../../../constructs/control-plane/exposure/exposure.ts';
import { etcdMemberHost, namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { answeringPods } from '../../pods/answering-pods.ts';
import { users } from '../../../constructs/cluster/workload-identities.ts';
import { isControlledBy } from '../../kube/object.ts';
import type { PodObject } from '../../kube/readiness.ts';
import { type PublishedTrust, publishedTrust, republishTrust, type ServerTrust } from './published-trust.ts';
import { issueCertificate, type KeyPair, validFor } from '../../pki/issue.ts';
import { caOf } from '../../pki/kubeconfig.ts';
import { fingerprint, splitCertificates, trustFingerprint } from '../../pki/pem.ts';
import { type SecretObject, valueOf } from '../../pki/secret.ts';
import { refreshFiles } from '../../pods/refresh-files.ts';
import type { CARotationContext } from './context.ts';
import { askAll, askPods, inputsKeyOf, type PendingConsumers, waitingFor } from './pending-consumers.ts';
import { unfinishedRollouts } from '../../pods/rollouts.ts';
import { type RotatedCA, trustsSince } from './rotated-ca.ts';
import { isOlderThan, soonerMs } from './reload-delays.ts';
import type { ProbedServer } from './trust-probes.ts';

/** The Secrets of authorities by their role. */
export const caRoles = {
  cluster: 'clusterCA',
  etcd: 'etcdCA',
  proxy: 'frontProxyCA',
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
export async function whoDistrusts(scope: CARotationContext, ca: RotatedCA): Promise<PendingConsumers> {
  const { plan, pair } = ca;
  const rollouts = unfinishedRollouts(scope, [caRoles[plan.ca]]);
  if (rollouts.length > 0) return waitingFor(rollouts);
  if (plan.ca === 'cluster' && !isInKubeconfig(scope, pair)) return waitingFor(['the kubeconfig']);

  const component = plan.ca === 'etcd' ? 'etcd' : 'api-server';
  const pods = await answeringPods(scope, component);
  if (pods.length === 0) return waitingFor([`${component}: it has no pods that could be asked`]);
  const version = trustFingerprint(pair.certificate);
  await refreshFiles(scope.writer, pods, { purpose: 'certificates', version });
  const answers = askAll(scope, {
    name: `trust in the ${plan.ca} CA`,
    inputsKey: inputsKeyOf(version, pods),
    ask: async () => [...(await whoRefuses(scope, ca, pods)), ...(await whoPublishesElse(scope, ca))],
  });
  return answers.kind === 'nobody' ? whoMayTrustTheOldOne(scope, ca, pods) : answers;
}

/** The key of the old one is gone, so that nobody can be asked: pods that were there before have time to read files. */
function whoMayTrustTheOldOne({ now }: CARotationContext, ca: RotatedCA, pods: readonly PodObject[]): PendingConsumers {
  const since = trustsSince(ca);
  const until = new Date((since?.getTime() ?? 0) + soonerMs);
  if (!since || isWaiting(ca) || now >= until) return { kind: 'nobody' };
  const old = pods.filter((pod) => isOlderThan(pod, since));
  return waitingFor(
    old.map(({ metadata }) => `${metadata.name} to read again whom it trusts`),
    until,
  );
}

async function whoRefuses(scope: CARotationContext, ca: RotatedCA, pods: readonly PodObject[]): Promise<string[]> {
  const { plan, next } = ca;
  // When it signs already, what it has signed is accepted, or nothing would work.
  if (!next || !isWaiting(ca)) return [];
  const { trustProbes, now } = scope;
  const client = await issueCertificate(
    { commonName: probeNames[plan.ca], organizations: [], usages: ['client'], hosts: [] },
    next.pair,
    validFor(probeLifetimeMs, now),
  );
  return askPods(pods, async (address, pod) => {
    if (plan.ca === 'etcd') {
      const isAdmitted = await trustProbes.isAdmitted(etcdServer(scope, pod, address), client);
      return isAdmitted ? undefined : 'does not trust the new one yet';
    }
    const asUser = plan.ca === 'proxy' ? probeName : undefined;
    const user = await trustProbes.userOf(apiServerOf(scope, address), client, asUser);
    return user === probeName ? undefined : 'does not trust the new one yet';
  });
}

/** An API server as one of its pods serves it. */
export function apiServerOf(
  { cluster, reader }: Pick<CARotationContext, 'cluster' | 'reader'>,
  host: string,
): ProbedServer {
  const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.clusterCA);
  return {
    host,
    port: exposureStrategy(cluster.spec).securePort,
    serverName: apiServiceHost(cluster),
    ca: valueOf(secret, 'tls.crt') ?? '',
  };
}

/** A member of etcd as its pod serves clients. */
export function etcdServer(
  { cluster, reader }: CARotationContext,
  { metadata: { name } }: PodObject,
  host: string,
): ProbedServer {
  const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.etcdCA);
  return {
    host,
    port: ports.etcdClient,
    serverName: etcdMemberHost(cluster, Number(name.slice(name.lastIndexOf('-') + 1))),
    ca: valueOf(secret, 'tls.crt') ?? '',
  };
}

/** A kubeconfig that a user put there is theirs. */
function isInKubeconfig({ cluster, reader, hostedControlPlane }: CARotationContext, { certificate }: KeyPair): boolean {
  const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.kubeconfig);
  if (!secret || !isControlledBy(secret, hostedControlPlane.metadata.uid)) return true;
  return caOf(valueOf(secret, 'value')) === certificate;
}

/** ConfigMaps of the hosted cluster that do not name all that are trusted, or name others. */
async function whoPublishesElse(scope: CARotationContext, ca: RotatedCA): Promise<string[]> {
  const { plan, pair } = ca;
  if (plan.ca === 'etcd') return [];
  const hosted = scope.hosted(scope.facts);
  const server: ServerTrust = plan.ca === 'cluster' ? 'clients' : 'front-proxy';
  const kinds: readonly PublishedTrust['kind'][] = plan.ca === 'cluster' ? ['root', 'cluster-info', server] : [server];
  const published = (await hosted.asAdministrator(publishedTrust)).filter(({ kind }) => kinds.includes(kind));
  const others = published.filter(({ kind, text }) => !says(kind, text, pair.certificate));
  // Before it signs, what stands there besides is what is being added.
  const mayTakeAway = !isWaiting(ca);
  const isServers = ({ kind }: PublishedTrust) => kind === server;
  if (mayTakeAway && others.some(isServers))
    await hosted.asAdministrator((client) => republishTrust(client, server, pair.certificate));
  return others
    .filter((one) => mayTakeAway || !isServers(one) || !names(one.text, pair.certificate))
    .map(({ configMap }) => `ConfigMap ${configMap}, which is not up to date yet`);
}

/** Whether the text names exactly these. */
function says(kind: PublishedTrust['kind'], text: string, wanted: string): boolean {
  const given = kind === 'cluster-info' ? (caOf(text) ?? '') : text;
  return names(given, wanted) && splitCertificates(given).length === splitCertificates(wanted).length;
}

function names(text: string, wanted: string): boolean {
  const given = splitCertificates(text).map(fingerprint);
  return splitCertificates(wanted).every((one) => given.includes(fingerprint(one)));
}

/** The successor has not signed anything yet but what it is proved with. */
function isWaiting({ pair, next }: RotatedCA): boolean {
  return next !== undefined && next.pair.key !== pair.key;
}
