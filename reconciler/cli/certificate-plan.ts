import { firstMinorWith } from '../../constructs/cluster/minors.ts';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { HostedControlPlaneSpec } from '../../constructs/api/hosted-control-plane.ts';
import { planAll, type PlannedCertificate } from '../../constructs/control-plane/certificates/overview.ts';
import { type SecretRole, type Use, uses } from '../../constructs/control-plane/certificates/uses.ts';
import { type HostedCluster, networkOf } from '../../constructs/cluster/cluster.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { missingCheck, policyChecks } from '../pki/policy.ts';

/** A control plane that stands for all: it has every certificate that any of them has. */
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

/** What must exist, for any cluster: one row for each Secret, with a heading. */
export function planRows(): string[][] {
  const planned = planAll(anyCluster, {
    endpoint: anywhere('ENDPOINT'),
    konnectivityEndpoint: anywhere('KONNECTIVITY-HOST'),
    tunnelEndpoint: anywhere('TUNNEL-HOST'),
  });
  const { serviceAccount } = namesOf(anyCluster.name).secrets;
  return [
    ['SECRET', 'SIGNED BY', 'SUBJECT', 'USAGES', 'LIVES', 'TAKEN UP BY', 'RESTARTED FOR IT', 'HOSTS'],
    ...planned.map((certificate) => [
      certificate.secret,
      signerOf(certificate),
      subjectOf(certificate),
      usagesOf(certificate),
      lifeOf(certificate),
      ...usersOf(certificate.role),
      hostsOf(certificate).join(', '),
    ]),
    [serviceAccount, '', 'a key, no certificate', 'tokens', 'until it is rotated', ...usersOf('serviceAccount'), ''],
  ];
}

/** When a certificate is issued again: one row for each reason in the order they are looked at, with a heading. */
export function policyRows(): string[][] {
  return [
    ['REASON', 'ISSUED AGAIN WHEN'],
    ...[missingCheck, ...policyChecks].map(({ reason, when }) => [reason, when]),
  ];
}

/** `itself`, or the authority. */
export function signerOf(certificate: PlannedCertificate): string {
  return certificate.kind === 'ca' ? 'itself' : `${certificate.plan.signer} CA`;
}

/** As kubectl and openssl spell it: `O=system:masters, CN=kubernetes-admin`. */
export function subjectOf(certificate: PlannedCertificate): string {
  if (certificate.kind === 'ca') return `CN=${certificate.commonName}`;
  const { organizations, commonName } = certificate.plan;
  return [...organizations.map((name) => `O=${name}`), `CN=${commonName}`].join(', ');
}

export function usagesOf(certificate: PlannedCertificate): string {
  return certificate.kind === 'ca' ? 'signs' : certificate.plan.usages.join(', ');
}

/** Names and addresses it is valid for. */
export function hostsOf(certificate: PlannedCertificate): readonly string[] {
  return certificate.kind === 'ca' ? [] : certificate.plan.hosts;
}

/**
 * Two cells: who takes a change up while it runs, and what is restarted for one.
 * @param minor of Kubernetes; both sides of a change of behaviour are told when unset
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

/** For either side what restricts it; undefined where it never happens. */
function behaviour({ reloads }: Use, minor: number | undefined): { whenReloaded?: string; whenRestarted?: string } {
  const always =
    typeof reloads === 'boolean' ? reloads : minor === undefined ? undefined : minor >= firstMinorWith(reloads);
  if (always !== undefined) return always ? { whenReloaded: '' } : { whenRestarted: '' };
  const since = typeof reloads === 'boolean' ? '' : `1.${firstMinorWith(reloads)}`;
  return { whenReloaded: `, since ${since}`, whenRestarted: `, before ${since}` };
}

/** How long it lives when the spec says nothing else. */
function lifeOf(certificate: PlannedCertificate): string {
  const { rootCASeconds, caSeconds, leafSeconds } = certificateLifetimes({});
  if (certificate.kind === 'leaf') return yearsText(leafSeconds);
  return yearsText(certificate.role === 'clusterCA' ? rootCASeconds : caSeconds);
}

function yearsText(seconds: number): string {
  const years = seconds / (8760 * 3600);
  return years === 1 ? '1 year' : `${years} years`;
}
