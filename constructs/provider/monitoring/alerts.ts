/** One alert, which Prometheus raises by metrics of the operator. */
export interface Alert {
  readonly name: string;
  /** Expression of Prometheus. */
  readonly expression: string;
  /** How long it must hold. */
  readonly lasts: string;
  /** `critical`: a person must act now. `warning`: a person must act on a working day. */
  readonly severity: 'critical' | 'warning';
  /** What is wrong, with labels of the series in double braces. */
  readonly summary: string;
  /** What it means. */
  readonly meaning: string;
  /** What a person does, in order. */
  readonly actions: readonly string[];
}

const metric = (name: string, labels = ''): string => `hosted_control_plane_${name}${labels && `{${labels}}`}`;

const certificate = 'namespace, name, kind';

/** A metric of objects once, although each pod of the operator has it. */
const once = (name: string, labels = '', by = 'namespace, name'): string => `max by (${by}) (${metric(name, labels)})`;
const condition = (type: string, status: 'True' | 'False'): string =>
  once('condition', `type="${type}",status="${status}"`);

/** Control planes that have served, and are to serve: a bring-up, a pause and hibernation raise no alert. */
const attended = [
  `and on (namespace, name) ${condition('Initialized', 'True')} == 1`,
  `unless on (namespace, name) ${condition('Paused', 'True')} == 1`,
  `unless on (namespace, name) ${condition('Awake', 'False')} == 1`,
].join(' ');

const backupAge = `(time() - ${once('last_backup_timestamp_seconds')})`;

const ofObject = '{{ $labels.namespace }}/{{ $labels.name }}';
const status = '`hcp status CLUSTER -n NAMESPACE` names the step that blocks, and the next command.';

export const alerts: readonly Alert[] = [
  {
    name: 'HostedControlPlaneUnavailable',
    expression: `${condition('Available', 'True')} == 0 ${attended}`,
    lasts: '5m',
    severity: 'critical',
    summary: `The API server of ${ofObject} does not serve.`,
    meaning:
      'No API server is ready, etcd has no quorum, or a CA is unusable. Workers keep running without their API server.',
    actions: [
      status,
      'If etcd has no quorum, follow [etcd](../../reconciler/etcd/README.md); do not delete its pods or volumes.',
      'If pods are not scheduled or crash, their reasons are in the conditions.',
    ],
  },
  {
    name: 'HostedControlPlaneNotReady',
    expression: `${condition('Ready', 'True')} == 0 ${attended}`,
    lasts: '30m',
    severity: 'warning',
    summary: `${ofObject} has not been Ready for half an hour.`,
    meaning: 'The control plane may serve, and something that its spec asks for is missing.',
    actions: [status],
  },
  {
    name: 'HostedControlPlaneEtcdUnhealthy',
    expression: `${condition('EtcdClusterHealthy', 'False')} == 1 ${attended}`,
    lasts: '10m',
    severity: 'critical',
    summary: `The etcd of ${ofObject} is not healthy.`,
    meaning:
      'A member is lost or damaged, there is no leader, or an alarm is raised. The operator replaces single members itself.',
    actions: [
      '`hcp status CLUSTER -n NAMESPACE`: the condition EtcdClusterHealthy says what the operator does, or what only an administrator may decide.',
      'With reason QuorumLost or DataLost, follow [etcd](../../reconciler/etcd/README.md).',
    ],
  },
  {
    name: 'HostedControlPlaneEtcdMembersMissing',
    expression: `${once('etcd_members', 'role=~"Lost|Missing|Unreachable"')} > 0 ${attended}`,
    lasts: '15m',
    severity: 'warning',
    summary: `Members of the etcd of ${ofObject} have been missing for a quarter of an hour.`,
    meaning:
      'The operator has not been able to bring them back: their pods are not scheduled, or their volumes are not attached.',
    actions: [status, '`kubectl get pods,pvc -n NAMESPACE -l cluster.x-k8s.io/cluster-name=CLUSTER`'],
  },
  {
    name: 'HostedControlPlaneEtcdAlmostFull',
    expression: `${once('etcd_quota_used_ratio')} >= 0.8 ${attended}`,
    lasts: '15m',
    severity: 'warning',
    summary: `The etcd of ${ofObject} uses {{ $value | humanizePercentage }} of its quota.`,
    meaning:
      'With autoGrow the volumes grow before they are full, up to maxVolumeSize. At the whole quota etcd takes no writes.',
    actions: [
      'Raise spec.etcd.maxVolumeSize, or with `autoGrow: false` spec.etcd.volumeSize.',
      'Find out which objects of the hosted cluster grow: `manifest.json` of the newest backup in the bucket counts them by resource.',
    ],
  },
  {
    name: 'HostedControlPlaneCertificateExpiring',
    // A certificate with a lifetime of days is always near its end: what counts is that its renewal is overdue.
    expression: [
      `${once('certificate_expiration_timestamp_seconds', '', certificate)} - time() < 7 * 86400`,
      `unless on (${certificate}) ${once('certificate_renewal_timestamp_seconds', '', certificate)} > time()`,
    ].join(' '),
    lasts: '1h',
    severity: 'critical',
    summary: `Certificate {{ $labels.kind }} of ${ofObject} expires in {{ $value | humanizeDuration }}.`,
    meaning:
      'The operator renews its certificates when 50 to 60 % of their lifetime have passed, so that it has not worked for months; or the certificate is a CA of a user.',
    actions: [
      '`hcp status CLUSTER -n NAMESPACE` names the Secret, and who renews it.',
      'If the operator does, find out why it does not run. If you do, replace the Secret.',
    ],
  },
  {
    name: 'HostedControlPlaneCertificateNotRenewed',
    expression: `time() - ${once('certificate_renewal_timestamp_seconds', '', certificate)} > 86400`,
    lasts: '1h',
    severity: 'warning',
    summary: `Certificate {{ $labels.kind }} of ${ofObject} should have been renewed {{ $value | humanizeDuration }} ago.`,
    meaning: 'The operator has not renewed it, although it was due for more than a day.',
    actions: ['Check that the operator runs, and that the object and its Cluster are not paused.', status],
  },
  {
    name: 'HostedControlPlaneBackupFailing',
    expression: `${condition('EtcdBackupReady', 'False')} == 1 ${attended}`,
    lasts: '1h',
    severity: 'warning',
    summary: `Backups of ${ofObject} fail.`,
    meaning: 'The store refuses, cannot be reached, or its folder has backups of another control plane.',
    actions: [
      '`hcp status CLUSTER -n NAMESPACE`: the condition EtcdBackupReady has the words of the store.',
      'Afterwards `hcp backup CLUSTER -n NAMESPACE` takes one at once.',
    ],
  },
  {
    name: 'HostedControlPlaneBackupOutdated',
    // A time in the future says as little about the age as none at all.
    expression: [
      `(${backupAge} > on (namespace, name) (2 * ${once('backup_period_seconds')} + 3600)`,
      `or ${backupAge} < -300`,
      `or ${once('backup_period_seconds')} unless on (namespace, name) ${once('last_backup_timestamp_seconds')})`,
      attended,
    ].join(' '),
    lasts: '1h',
    severity: 'warning',
    summary: `The newest backup of ${ofObject} is missing, more than two periods of its schedule old, or dated in the future.`,
    meaning:
      'What a restore would lose grows. A backup in the future was taken while the clock of the operator was wrong; the next one has the right time.',
    actions: [
      '`hcp status CLUSTER -n NAMESPACE`: the conditions EtcdBackupReady and ClocksAgree say why none is taken.',
      '`hcp backup CLUSTER -n NAMESPACE` takes one at once.',
    ],
  },
  {
    name: 'HostedControlPlaneClockWrong',
    expression: `max(abs(${metric('clock_offset_seconds')})) > 60`,
    lasts: '5m',
    severity: 'critical',
    summary:
      "The clocks of the operator's node and of the management API server differ by {{ $value | humanizeDuration }}.",
    meaning:
      'Nothing is issued, renewed, deleted or scheduled by the time until they agree: certificates come closer to their end, and no scheduled backups are taken.',
    actions: [
      'Correct the time synchronization of the node that is wrong: compare `date` on the nodes of the operator and of the API servers.',
      'The condition ClocksAgree of each HostedControlPlane is True a minute after they agree.',
    ],
  },
  {
    name: 'HostedControlPlaneBackupNotVerified',
    expression: `${condition('EtcdBackupVerified', 'False')} == 1 ${attended}`,
    lasts: '6h',
    severity: 'warning',
    summary: `The newest backups of ${ofObject} could not be verified.`,
    meaning: 'A backup that cannot be restored is none.',
    actions: ['`hcp backups CLUSTER -n NAMESPACE` names the newest one that was verified.', status],
  },
  {
    name: 'HostedControlPlaneQuarantined',
    expression: `${condition('Quarantined', 'True')} == 1`,
    lasts: '15m',
    severity: 'warning',
    summary: `${ofObject} has ended the operator, and has been in quarantine for a quarter of an hour.`,
    meaning:
      'The operator has ended twice within an hour while it worked on this control plane. It keeps serving; a second process, with little memory, does what reaches its servers and stores, and fails as well. It is a defect of the operator, or an attack on it.',
    actions: [
      'The log of the operator has the cause: lines with `secondProcessOf` come from the second process, and `kubectl logs --previous` has the lines of the process that ended.',
      'Compare the answers of its API servers, etcd and stores with the answers of other ones: images of a tenant may answer anything.',
      'The operator tries again automatically, at the time in the condition. Nothing has to be reset.',
    ],
  },
  {
    name: 'HostedControlPlaneOperatorErrors',
    expression: `rate(${metric('reconcile_duration_seconds_count', 'result="error"')}[10m]) > 0.1`,
    lasts: '15m',
    severity: 'warning',
    summary: 'Reconciles of the operator fail again and again.',
    meaning: 'Something unexpected happens, which no condition explains better than ReconcileFailed.',
    actions: ['The log of the operator has the errors, each with its HostedControlPlane.'],
  },
  {
    name: 'HostedControlPlaneOperatorBusy',
    expression: `min_over_time(${metric('workqueue_depth')}[15m]) > 10`,
    lasts: '15m',
    severity: 'warning',
    summary: 'More than ten control planes have waited for the operator for a quarter of an hour.',
    meaning: 'The operator has too little processor time, or requests to the API server are slow.',
    actions: [
      'Compare its processor time with one core, and `hosted_control_plane_reconcile_duration_seconds` with what is usual; with `OPTIMIZE_FOR=speed` it takes less processor time and more memory.',
      'Raise MAX_CONCURRENT_RECONCILES, or divide the fleet by `--watch-filter`.',
    ],
  },
  {
    name: 'HostedControlPlaneOperatorAbsent',
    expression: `absent(${metric('build_info')})`,
    lasts: '10m',
    severity: 'critical',
    summary: 'No operator is scraped.',
    meaning: 'Control planes keep serving without renewed certificates, replaced members and new backups.',
    actions: [
      '`kubectl get pods -n capi-hosted-control-plane-system`: the status of a pod that ended has the last lines of its log.',
      'Check that the operator has the argument `--secure-metrics-port=8443`, that the Secret `hosted-control-plane-scraper` has a token, and that Prometheus selects the PodMonitor.',
    ],
  },
];
