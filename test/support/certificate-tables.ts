import { firstMinorWith } from '../../constructs/cluster/minors.ts';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { HostedControlPlaneSpec } from '../../constructs/api/hosted-control-plane.ts';
import { type SecretRole, type Use, uses } from '../../constructs/control-plane/certificates/certificate-consumers.ts';
import { type HostedCluster, networkOf } from '../../constructs/cluster/cluster.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { missingCheck, policyChecks } from '../../reconciler/pki/reissue-policy.ts';
import { markdownTable, withBlock } from './readme-block.ts';
import type { ResolvedEndpoints } from '../../constructs/control-plane/exposure/strategy.ts';
import {
  adminPlan,
  type CertificatePlan,
  planCAs,
  planCertificates,
  planEtcdCertificates,
} from '../../constructs/control-plane/certificates/certificate-plans.ts';
import type { CertificateRole } from '../../reconciler/certificates/expiries.ts';

/** The text with the certificates of any cluster, and when they are reissued, as tables between their markers. */
export function withCertificateTables(text: string): string {
  const [plan, policy] = [planRows(), policyRows()].map(tableOf);
  return withBlock(text, 'certificates', `${plan}\n${policy}`);
}

function tableOf([heading = [], ...rows]: readonly (readonly string[])[]): string {
  return markdownTable([
    heading.map((word) => word.toLowerCase()),
    ...rows.map(([name = '', ...cells]) => [`\`${name}\``, ...cells]),
  ]);
}

/** A control plane that has every certificate that any control plane has. */
const anyCluster: HostedCluster = {
  name: 'CLUSTER',
  namespace: 'NAMESPACE',
  network: networkOf(undefined),
  spec: HostedControlPlaneSpec.parse({
    version: 'v1.36.0',
    inClusterAccess: 'Proxy',
    exposure: { gateway: { namespace: 'any', name: 'any' } },
  }),
};

const anywhere = (host: string) => ({ host, port: 443 });

/** The certificates of any cluster: one row for each Secret, with a heading. */
export function planRows(): string[][] {
  const planned = planAll(anyCluster, {
    endpoint: anywhere('ENDPOINT'),
    konnectivityEndpoint: anywhere('KONNECTIVITY-HOST'),
    tunnelEndpoint: anywhere('TUNNEL-HOST'),
  });
  const { serviceAccount } = namesOf(anyCluster.name).secrets;
  return [
    ['SECRET', 'SIGNED BY', 'SUBJECT', 'USAGES', 'LIFETIME', 'RELOADED BY', 'RESTARTS', 'HOSTS'],
    ...planned.map((certificate) => [
      certificate.secret,
      signerOf(certificate),
      subjectOf(certificate),
      usagesOf(certificate),
      lifeOf(certificate),
      ...usersOf(certificate.role),
      hostsOf(certificate).join(', '),
    ]),
    [serviceAccount, '', 'a key, not a certificate', 'tokens', 'until it is rotated', ...usersOf('serviceAccount'), ''],
  ];
}

/**
 * The reasons for which a certificate is reissued: one row for each, in the order of their evaluation, with a heading.
 */
export function policyRows(): string[][] {
  return [['REASON', 'REISSUED WHEN'], ...[missingCheck, ...policyChecks].map(({ reason, when }) => [reason, when])];
}

/** `itself`, or the CA. */
function signerOf(certificate: PlannedCertificate): string {
  return certificate.kind === 'ca' ? 'itself' : `${certificate.plan.signer} CA`;
}

/** The subject in the format of kubectl and openssl: `O=system:masters, CN=kubernetes-admin`. */
function subjectOf(certificate: PlannedCertificate): string {
  if (certificate.kind === 'ca') return `CN=${certificate.commonName}`;
  const { organizations, commonName } = certificate.plan;
  return [...organizations.map((name) => `O=${name}`), `CN=${commonName}`].join(', ');
}

function usagesOf(certificate: PlannedCertificate): string {
  return certificate.kind === 'ca' ? 'signs' : certificate.plan.usages.join(', ');
}

/** Names and addresses that it is valid for. */
function hostsOf(certificate: PlannedCertificate): readonly string[] {
  return certificate.kind === 'ca' ? [] : certificate.plan.hosts;
}

/**
 * Two cells: the programs that reload a change while they run, and those that are restarted for it.
 * @param minor of Kubernetes; when unset, both sides of a change of behaviour are included
 */
export function usersOf(role: Exclude<SecretRole, 'encryption'>, minor?: number): [string, string] {
  const list = uses[role].map((use) => ({ use, ...behaviour(use, minor) }));
  const cell = (side: 'whenReloaded' | 'whenRestarted') =>
    list.flatMap(({ use, [side]: when }) => (when === undefined ? [] : [describe(use, when)])).join(', ');
  return [cell('whenReloaded'), cell('whenRestarted')];
}

function describe({ program, purpose }: Use, when: string): string {
  return `${program} (${purpose}${when})`;
}

/** The restriction of each cell; undefined where it never applies. */
function behaviour({ reloads }: Use, minor: number | undefined): { whenReloaded?: string; whenRestarted?: string } {
  const always =
    typeof reloads === 'boolean' ? reloads : minor === undefined ? undefined : minor >= firstMinorWith(reloads);
  if (always !== undefined) return always ? { whenReloaded: '' } : { whenRestarted: '' };
  const since = typeof reloads === 'boolean' ? '' : `1.${firstMinorWith(reloads)}`;
  return { whenReloaded: `, since ${since}`, whenRestarted: `, before ${since}` };
}

/** Its default lifetime. */
function lifeOf(certificate: PlannedCertificate): string {
  const { rootCASeconds, caSeconds, leafSeconds } = certificateLifetimes({});
  if (certificate.kind === 'leaf') return yearsText(leafSeconds);
  return yearsText(certificate.role === 'clusterCA' ? rootCASeconds : caSeconds);
}

function yearsText(seconds: number): string {
  const years = seconds / (8760 * 3600);
  return years === 1 ? '1 year' : `${years} years`;
}

/** One certificate of a control plane: a self-signed CA, or a leaf certificate that a CA signs. */
type PlannedCertificate =
  | { readonly role: CertificateRole; readonly kind: 'ca'; readonly secret: string; readonly commonName: string }
  | { readonly role: CertificateRole; readonly kind: 'leaf'; readonly secret: string; readonly plan: CertificatePlan };

/**
 * Every certificate of a control plane, CAs first.
 * @param reached the endpoints; without them only the certificates that do not depend on an endpoint
 */
function planAll(cluster: HostedCluster, reached: ResolvedEndpoints | undefined): PlannedCertificate[] {
  const leaves = [
    ...planEtcdCertificates(cluster),
    ...(reached
      ? planCertificates(cluster, reached.endpoint, reached.konnectivityEndpoint, reached.tunnelEndpoint)
      : []),
    adminPlan(cluster.name),
  ];
  return [
    ...planCAs(cluster.name).map(({ secret, commonName }) => ({
      role: roleOf(cluster, secret),
      kind: 'ca' as const,
      secret,
      commonName,
    })),
    ...leaves.map((plan) => ({
      role: roleOf(cluster, plan.secret),
      kind: 'leaf' as const,
      secret: plan.secret,
      plan,
    })),
  ];
}

function roleOf({ name }: HostedCluster, secret: string): CertificateRole {
  const found = Object.entries(namesOf(name).secrets).find(([, value]) => value === secret);
  if (!found) throw new Error(`Secret ${secret} has no role: add it to namesOf`);
  return found[0] as CertificateRole;
}
