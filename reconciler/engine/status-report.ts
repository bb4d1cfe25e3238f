import type { EtcdStatus } from '../../constructs/api/etcd-status.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';

/**
 * Fields of the status that phases report, and what becomes of each in a reconcile in which none does: such a reconcile has not
 * observed them. Another field cannot be reported.
 */
const reportedFields = {
  certificates: 'stays',
  certificatesNotAfter: 'stays',
  emulation: 'goes',
  encryptionAtRest: 'stays',
  etcdLastAttemptedDefragTime: 'stays',
  etcdLastBackupTime: 'stays',
  etcdLastDefragTime: 'stays',
  etcdNextBackupTime: 'stays',
  etcdVolumeUsage: 'stays',
  held: 'goes',
  hibernation: 'stays',
  hosts: 'stays',
  network: 'stays',
  preflight: 'stays',
  releaseRevision: 'goes',
  revisions: 'stays',
} as const satisfies Partial<Record<keyof HostedControlPlaneStatus, 'stays' | 'goes'>>;
type ReportedField = keyof typeof reportedFields;

/** Status fields that a phase reports besides its condition. Of `etcd`, every field stays. */
export type StatusReport = Partial<Pick<HostedControlPlaneStatus, ReportedField>> & {
  readonly etcd?: Partial<EtcdStatus>;
};

/** What stays of a status that phases have reported before. */
export function staying(previous: HostedControlPlaneStatus | undefined): Partial<HostedControlPlaneStatus> {
  const fields = Object.entries(reportedFields).flatMap(([field, fate]) =>
    fate === 'stays' && previous?.[field as ReportedField] !== undefined
      ? [[field, previous[field as ReportedField]]]
      : [],
  );
  return Object.fromEntries(fields) as Partial<HostedControlPlaneStatus>;
}
