import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { minorOf } from '../../constructs/cluster/versions.ts';
import { hostsOf, signerOf, subjectOf, usagesOf, usersOf } from './certificate-plan.ts';
import type { CertificateState } from './certificate-states.ts';
import { table } from './columns.ts';
import { plainView, type View } from './view.ts';

/** What a table of certificates shows. */
export interface CertificateTable {
  readonly now: Date;
  /** With hosts and users. */
  readonly isWide?: boolean;
}

const heading = ['SECRET', 'SIGNED BY', 'SUBJECT', 'USAGES', 'NOT AFTER', 'RENEWS', 'STATE'];

/** Human-readable: a row for each certificate. */
export function describeCertificates(
  { spec }: HostedCluster,
  states: readonly CertificateState[],
  { now, isWide = false }: CertificateTable,
  view: View = plainView,
): string[] {
  const { paint } = view;
  const more = (cells: readonly string[]) => (isWide ? cells : []);
  const rows = states.map(({ planned, notAfter, renewsAt, state, level }) => {
    const isExpired = notAfter !== undefined && notAfter <= now;
    return [
      planned.secret,
      signerOf(planned),
      subjectOf(planned),
      usagesOf(planned),
      isExpired ? paint('fails', dayOf(notAfter)) : dayOf(notAfter),
      dayOf(renewsAt),
      paint(isExpired ? 'fails' : level, state),
      ...more([...usersOf(planned.role, minorOf(spec.version)), hostsOf(planned).join(',')]),
    ];
  });
  return table([heading.concat(more(['RELOADED BY', 'RESTARTS', 'HOSTS'])), ...rows], view);
}

function dayOf(time: Date | undefined): string {
  return time === undefined ? '-' : `${time.toISOString().slice(0, 16)}Z`;
}

/** Machine-readable. Fields may be added; existing fields never change their meaning. */
export function jsonOfCertificates(
  { name, namespace, spec }: HostedCluster,
  states: readonly CertificateState[],
): string {
  const listed = states.map(({ planned, notAfter, renewsAt, state }) => {
    const [reloadedBy, restartedForIt] = usersOf(planned.role, minorOf(spec.version));
    return {
      secret: planned.secret,
      signedBy: signerOf(planned),
      subject: subjectOf(planned),
      usages: planned.kind === 'leaf' ? planned.plan.usages : [],
      hosts: hostsOf(planned),
      notAfter: notAfter?.toISOString() ?? null,
      renewsAt: renewsAt?.toISOString() ?? null,
      state,
      reloadedBy,
      restartedForIt,
    };
  });
  return JSON.stringify({ namespace, cluster: name, certificates: listed }, undefined, 2);
}
