/** Series of Prometheus by name and labels, as in its text format, and their values, one for each step. */
export type SeriesOf = Readonly<Record<string, string>>;

/** The state in which an alert must fire. */
export interface AlertCase {
  /** What differs from a healthy control plane and a healthy operator; an empty text for a series that is missing. */
  readonly broken: SeriesOf;
}

const ofObject = 'namespace="team",name="c1"';
const metric = (name: string, labels = ''): string => `hosted_control_plane_${name}{${labels}}`;
export const condition = (type: string, status: 'True' | 'False'): string =>
  metric('condition', `${ofObject},type="${type}",status="${status}"`);
const expiry = metric('certificate_expiration_timestamp_seconds', `${ofObject},kind="Server"`);
const renewal = metric('certificate_renewal_timestamp_seconds', `${ofObject},kind="Server"`);
const lastBackup = metric('last_backup_timestamp_seconds', ofObject);
const yearS = 365 * 86_400;

/** A value that stays for longer than any test looks. */
export const always = (value: number): string => `${value}x3000`;

/** A healthy control plane, and the operator that looks after it. */
export const healthy: SeriesOf = {
  [condition('Initialized', 'True')]: always(1),
  [condition('Available', 'True')]: always(1),
  [condition('Ready', 'True')]: always(1),
  [condition('Paused', 'True')]: always(0),
  [condition('Awake', 'False')]: always(0),
  [condition('EtcdClusterHealthy', 'False')]: always(0),
  [condition('EtcdBackupReady', 'False')]: always(0),
  [condition('EtcdBackupVerified', 'False')]: always(0),
  [metric('etcd_members', `${ofObject},role="Leader"`)]: always(1),
  [metric('etcd_quota_used_ratio', ofObject)]: always(0.25),
  [expiry]: always(yearS),
  [renewal]: always(yearS / 2),
  [metric('reconcile_duration_seconds_count', 'result="error"')]: always(3),
  [metric('backup_period_seconds', ofObject)]: always(3600),
  // In the time of a test, which begins at 0: always a new one.
  [lastBackup]: '0+300x3000',
  [metric('clock_offset_seconds')]: always(0.5),
  [metric('workqueue_depth')]: always(1),
  [metric('build_info', 'version="1"')]: always(1),
};

/** States of a control plane in which no one on call is woken, whatever else is wrong with it. */
export const unattended: Readonly<Record<string, SeriesOf>> = {
  'comes up for the first time': { [condition('Initialized', 'True')]: always(0) },
  'is paused': { [condition('Paused', 'True')]: always(1) },
  hibernates: { [condition('Awake', 'False')]: always(1) },
};

/** For each alert the state in which it must fire. */
export const alertCases: Readonly<Record<string, AlertCase>> = {
  HostedControlPlaneUnavailable: { broken: { [condition('Available', 'True')]: always(0) } },
  HostedControlPlaneNotReady: { broken: { [condition('Ready', 'True')]: always(0) } },
  HostedControlPlaneEtcdUnhealthy: { broken: { [condition('EtcdClusterHealthy', 'False')]: always(1) } },
  HostedControlPlaneEtcdMembersMissing: { broken: { [metric('etcd_members', `${ofObject},role="Lost"`)]: always(1) } },
  HostedControlPlaneEtcdAlmostFull: { broken: { [metric('etcd_quota_used_ratio', ofObject)]: always(0.875) } },
  HostedControlPlaneCertificateExpiring: { broken: { [expiry]: always(8 * 86_400), [renewal]: always(86_400) } },
  HostedControlPlaneCertificateNotRenewed: { broken: { [renewal]: always(3600) } },
  HostedControlPlaneBackupFailing: { broken: { [condition('EtcdBackupReady', 'False')]: always(1) } },
  HostedControlPlaneBackupOutdated: { broken: { [lastBackup]: '' } },
  HostedControlPlaneQuarantined: { broken: { [condition('Quarantined', 'True')]: always(1) } },
  HostedControlPlaneClockWrong: { broken: { [metric('clock_offset_seconds')]: always(-90) } },
  HostedControlPlaneBackupNotVerified: { broken: { [condition('EtcdBackupVerified', 'False')]: always(1) } },
  HostedControlPlaneOperatorErrors: {
    broken: { [metric('reconcile_duration_seconds_count', 'result="error"')]: '0+60x3000' },
  },
  HostedControlPlaneOperatorBusy: { broken: { [metric('workqueue_depth')]: always(20) } },
  HostedControlPlaneOperatorAbsent: { broken: { [metric('build_info', 'version="1"')]: '' } },
};
