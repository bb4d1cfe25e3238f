import type { PodObject, SecretObject } from '../../../imports/kubernetes.ts';
import { Pod, Secret } from '../../../constructs/api/resources.ts';
import {
  adminPlan,
  type CertificatePlan,
  planCertificates,
  planEtcdCertificates,
} from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import { reloads } from '../../../constructs/control-plane/certificates/restarts.ts';
import {
  podsOf,
  type SecretRole,
  type Use,
} from '../../../constructs/control-plane/certificates/certificate-consumers.ts';
import { usesTunnel } from '../../../constructs/cluster/in-cluster-access.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { type ComponentName, selectorLabels } from '../../../constructs/cluster/labels.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { pendingOn, podsWithProblem, type Proof, proved, provenByAll } from '../../clusters/pods/proven-by-all.ts';
import { isControlledBy } from '../../kube/object.ts';
import { hasEnded } from '../../kube/readiness.ts';
import { isSignedBy, readCertificate } from '../../pki/certificate.ts';
import { issuedAt, type KeyPair } from '../../pki/issue.ts';
import { clientIn } from '../../pki/kubeconfig.ts';
import { signerFingerprint } from '../../pki/pem.ts';
import { pairOf } from '../../pki/secret.ts';
import type { CARotationContext, RotatedCA } from './rotated-ca.ts';
import { unfinishedRollouts, usesOf } from '../../clusters/pods/rollouts.ts';
import { isOlderThan, soonerMs, reloadDelayMs } from './reload-delays.ts';
import { apiServerOf, etcdServer } from './trust-proof.ts';
import type { ProbedServer } from './trust-probes.ts';

/** Certificates that are read for each connection, or when the file has changed. */
const reloadedSooner: readonly (SecretRole | undefined)[] = ['apiServerEtcdClient', 'frontProxyClient'];

/** The components that still present a certificate which the signing CA has not issued. It does not cover nodes. */
export async function consumersOfOldCertificates(scope: CARotationContext, ca: RotatedCA): Promise<Proof> {
  const { plan, pair } = ca;
  const issued = issuedBy(scope, ca);
  const missing = issued.filter(({ certificate }) => !certificate || !isSignedBy(certificate, pair.certificate));
  if (missing.length > 0) return pendingOn(missing.map(({ secret }) => `Secret ${secret}`));
  const rollouts = unfinishedRollouts(
    scope,
    issued.flatMap(({ role }) => role ?? []),
  );
  if (rollouts.length > 0) return pendingOn(rollouts);

  const clients = clientsBeforeReload(scope, issued);
  const proof = await provenByAll(scope, {
    name: `certificates of the ${plan.ca} CA`,
    component: plan.ca === 'etcd' ? 'etcd' : 'api-server',
    version: signerFingerprint(pair.certificate),
    purpose: `certificates-${plan.ca}`,
    // The front proxy is only a client.
    ask: async (pods) => (plan.ca === 'proxy' ? [] : serversWithOldCertificate(scope, ca, pods)),
  });
  return proof.kind === 'proved' ? clients : proof;
}

interface Issued {
  readonly secret: string;
  readonly role: SecretRole | undefined;
  readonly isClient: boolean;
  /** PEM; undefined while it does not exist. */
  readonly certificate: string | undefined;
}

/** Every certificate in a Secret that this CA signs. */
function issuedBy(scope: CARotationContext, { plan: { ca } }: RotatedCA): Issued[] {
  const { cluster, facts, reader } = scope;
  const plans: readonly CertificatePlan[] = [
    ...planEtcdCertificates(cluster),
    ...planCertificates(cluster, facts.endpoint, facts.konnectivityEndpoint, facts.tunnelEndpoint),
  ];
  const issued = plans
    .filter(({ signer }) => signer === ca)
    .map(({ secret, usages }) => ({
      secret,
      role: roleOf(cluster.name, secret),
      isClient: usages.includes('client'),
      certificate: pairOf(reader.get<SecretObject>(Secret, secret))?.certificate,
    }));
  return ca === 'cluster' ? [...issued, ...administrators(scope)] : issued;
}

/** A kubeconfig that a user provides is not changed. */
function administrators({ cluster, hostedControlPlane, reader }: CARotationContext): Issued[] {
  const { secret } = adminPlan(cluster.name);
  const object = reader.get<SecretObject>(Secret, secret);
  if (object && !isControlledBy(object, hostedControlPlane.metadata.uid)) return [];
  const certificate = clientIn(object)?.certificate;
  return [{ secret, role: undefined, isClient: true, certificate }];
}

function roleOf(cluster: string, secret: string): SecretRole | undefined {
  const roles = Object.entries(namesOf(cluster).secrets) as [SecretRole, string][];
  return roles.find(([, name]) => name === secret)?.[0];
}

/** Pods that are older than their client certificate, for as long as they may not have loaded it. */
function clientsBeforeReload({ cluster, reader, now }: CARotationContext, issued: readonly Issued[]): Proof {
  const fresh = restartedFor(issued, cluster);
  const pending = issued
    .filter(({ isClient }) => isClient)
    .flatMap(({ role, certificate }) => {
      const since = issuedAt(readCertificate(certificate ?? ''));
      const until = new Date(since.getTime() + (reloadedSooner.includes(role) ? soonerMs : reloadDelayMs));
      const users = role && now < until ? usesOf(role).filter(presentsAsClient) : [];
      const components = [...new Set(users.flatMap(({ program }) => podsOf[program] ?? []))].filter(
        (name) => !fresh.includes(name),
      );
      const pods = components.flatMap((name) => reader.list<PodObject>(Pod, selectorLabels(cluster.name, name)));
      return pods
        .filter((pod) => !hasEnded(pod) && isOlderThan(pod, since))
        .map(({ metadata }) => ({ name: metadata.name, until }));
    });
  const [first] = pending.toSorted((a, b) => b.until.getTime() - a.until.getTime());
  if (!first) return proved;
  const names = [...new Set(pending.map(({ name }) => `${name} to load its client certificate`))];
  return pendingOn(names, first.until);
}

/** Components that restart because of one of these certificates, all of which were written together before. */
function restartedFor(issued: readonly Issued[], cluster: HostedCluster): ComponentName[] {
  return issued
    .flatMap(({ role }) => (role ? usesOf(role) : []))
    .filter((use) => !reloads(use, cluster))
    .flatMap(({ program }) => podsOf[program] ?? []);
}

/** Peers of etcd are servers as well, and are checked as such. */
function presentsAsClient({ program, part }: Use): boolean {
  return part === 'pair' && program !== 'etcd';
}

function serversWithOldCertificate(
  scope: CARotationContext,
  ca: RotatedCA,
  pods: readonly PodObject[],
): Promise<string[]> {
  const { pair, plan } = ca;
  return podsWithProblem(pods, async (address, pod) => {
    const servers = plan.ca === 'etcd' ? etcdServers(scope, pod, address) : serversOfCluster(scope, address);
    const served = await Promise.all(servers.map(([server, client]) => scope.trustProbes.servedBy(server, client)));
    const isNew = served.every((certificate) => isSignedBy(certificate, pair.certificate));
    return isNew ? undefined : 'does not serve its new certificate yet';
  });
}

/** A server, and the client certificate for the query. */
type ServerQuery = readonly [server: ProbedServer, client: KeyPair | undefined];

function etcdServers(scope: CARotationContext, pod: PodObject, address: string): ServerQuery[] {
  const server = etcdServer(scope, pod, address);
  const { etcdController, etcdPeer } = namesOf(scope.cluster.name).secrets;
  const pair = (secret: string) => pairOf(scope.reader.get<SecretObject>(Secret, secret));
  return [
    [server, pair(etcdController)],
    [{ ...server, port: ports.etcdPeer }, pair(etcdPeer)],
  ];
}

/** All servers in the pod of an API server that workers or clients dial. */
function serversOfCluster(scope: CARotationContext, address: string): ServerQuery[] {
  const { cluster, facts } = scope;
  const server = apiServerOf(scope, address);
  const { tunnelEndpoint } = facts;
  const others = [
    { ...server, port: ports.konnectivityAgent },
    ...(tunnelEndpoint && usesTunnel(cluster.spec)
      ? [{ ...server, port: ports.tunnel, serverName: tunnelEndpoint.host }]
      : []),
  ];
  return [server, ...others].map((each) => [each, undefined]);
}
