import type { PodObject, SecretObject } from '../../../imports/kubernetes.ts';
import { etcdHTTPPort } from '../../etcd/access.ts';
import { ordinalOf } from '../../etcd/member-objects.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import type { SecretRole } from '../../../constructs/control-plane/certificates/certificate-consumers.ts';
import { exposureStrategy } from '../../../constructs/control-plane/exposure/exposure.ts';
import type { ComponentName } from '../../../constructs/cluster/labels.ts';
import { etcdMemberHost, namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { answeringPods } from '../../clusters/pods/ask-pods.ts';
import { pendingOn, podsWithProblem, type Proof, proved, provenByAll } from '../../clusters/pods/proven-by-all.ts';
import { users } from '../../../constructs/cluster/workload-identities.ts';
import { isControlledBy } from '../../kube/object.ts';
import { staleTrustConfigMaps } from './published-trust.ts';
import { issueCertificate, type KeyPair, validFor } from '../../pki/issue.ts';
import { caOf } from '../../pki/kubeconfig.ts';
import { trustFingerprint } from '../../pki/pem.ts';
import { valueOf } from '../../pki/secret.ts';
import { unfinishedRollouts } from '../../clusters/pods/rollouts.ts';
import { type CARotationContext, isWaiting, type RotatedCA, trustsSince } from './rotated-ca.ts';
import { isOlderThan, soonerMs } from './reload-delays.ts';
import type { ProbedServer } from './trust-probes.ts';

/** The Secrets of CAs, by their role. */
const caRoles = {
  cluster: 'clusterCA',
  etcd: 'etcdCA',
  proxy: 'frontProxyCA',
} as const satisfies Readonly<Record<string, SecretRole>>;

/** A certificate for this name has no permissions anywhere. */
const probeName = 'hosted-control-plane-rotation';
/**
 * The API server accepts one name for the front proxy, and etcd only those of its clients, which include the operator.
 */
const probeNames = { cluster: probeName, etcd: users.controller, proxy: 'front-proxy-client' } as const;
const probeLifetimeMs = 10 * 60_000;

/**
 * The components that do not trust exactly the certificates in the Secret of a CA. Servers are queried individually
 * with a client certificate of the successor, as long as the successor has not signed anything else. Other components
 * are checked by what is published for them.
 */
export async function consumersNotTrusting(scope: CARotationContext, ca: RotatedCA): Promise<Proof> {
  const { plan, pair } = ca;
  const rollouts = unfinishedRollouts(scope, [caRoles[plan.ca]]);
  if (rollouts.length > 0) return pendingOn(rollouts);
  if (plan.ca === 'cluster' && !isInKubeconfig(scope, pair)) return pendingOn(['the kubeconfig']);

  const component = plan.ca === 'etcd' ? 'etcd' : 'api-server';
  const proof = await provenByAll(scope, {
    name: `trust in the ${plan.ca} CA`,
    component,
    version: trustFingerprint(pair.certificate),
    purpose: `certificates-${plan.ca}`,
    ask: async (pods) => [...(await podsRefusing(scope, ca, pods)), ...(await staleTrustConfigMaps(scope, ca))],
  });
  return proof.kind === 'proved' ? consumersOfOldTrust(scope, ca, component) : proof;
}

/** The key of the old CA no longer exists, so its trust cannot be queried: older pods get time to read their files. */
async function consumersOfOldTrust(scope: CARotationContext, ca: RotatedCA, component: ComponentName): Promise<Proof> {
  const { now } = scope;
  const since = trustsSince(ca);
  const until = new Date((since?.getTime() ?? 0) + soonerMs);
  if (!since || isWaiting(ca) || now >= until) return proved;
  const old = (await answeringPods(scope, component)).filter((pod) => isOlderThan(pod, since));
  return pendingOn(
    old.map(({ metadata }) => `${metadata.name} to reload its trusted CAs`),
    until,
  );
}

async function podsRefusing(scope: CARotationContext, ca: RotatedCA, pods: readonly PodObject[]): Promise<string[]> {
  const { plan, next } = ca;
  // If it signs already, its certificates are accepted. Otherwise nothing would work.
  if (!next || !isWaiting(ca)) return [];
  const { trustProbes, now } = scope;
  const client = await issueCertificate(
    { commonName: probeNames[plan.ca], organizations: [], usages: ['client'], hosts: [] },
    next.pair,
    validFor(probeLifetimeMs, now),
  );
  return podsWithProblem(pods, async (address, pod) => {
    if (plan.ca === 'etcd') {
      const server = { ...etcdServer(scope, pod, address), port: etcdHTTPPort(pod) };
      const isAdmitted = await trustProbes.isAdmitted(server, client);
      return isAdmitted ? undefined : 'does not trust the new CA yet';
    }
    const asUser = plan.ca === 'proxy' ? probeName : undefined;
    const user = await trustProbes.userOf(apiServerOf(scope, address), client, asUser);
    return user === probeName ? undefined : 'does not trust the new CA yet';
  });
}

/** The API server in one of its pods. */
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

/** The etcd member in its pod, as it serves clients. */
export function etcdServer(
  { cluster, reader }: CARotationContext,
  { metadata: { name } }: PodObject,
  host: string,
): ProbedServer {
  const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.etcdCA);
  return {
    host,
    port: ports.etcdClient,
    serverName: etcdMemberHost(cluster, ordinalOf(name)),
    ca: valueOf(secret, 'tls.crt') ?? '',
  };
}

/** A kubeconfig that a user provides is not changed. */
function isInKubeconfig({ cluster, reader, hostedControlPlane }: CARotationContext, { certificate }: KeyPair): boolean {
  const secret = reader.get<SecretObject>(Secret, namesOf(cluster.name).secrets.kubeconfig);
  if (!secret || !isControlledBy(secret, hostedControlPlane.metadata.uid)) return true;
  return caOf(valueOf(secret, 'value')) === certificate;
}
