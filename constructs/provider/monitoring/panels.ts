/** One query of a panel. */
export interface Query {
  /** Expression of Prometheus, with variables of the dashboard such as `$namespace`. */
  readonly expression: string;
  /** Name of each series, with its labels in double braces. */
  readonly legend: string;
}

/** A panel of a dashboard. */
export interface PanelSpec {
  readonly title: string;
  /** What it shows, and when to worry. */
  readonly description: string;
  /** `stat`: one number. `timeseries`: lines over time. `state-timeline`: the state of each row over time. */
  readonly type: 'stat' | 'timeseries' | 'state-timeline';
  /** Unit of Grafana, such as `s` or `percentunit`. @default a number */
  readonly unit?: string;
  readonly queries: readonly [Query, ...Query[]];
}

const metric = (name: string, labels = ''): string => `hosted_control_plane_${name}${labels && `{${labels}}`}`;
/** A metric of control planes once, although each pod of the operator has it. */
const once = (name: string, labels = '', by = 'namespace, name'): string => `max by (${by}) (${metric(name, labels)})`;
const isStatus = (type: string, status: 'True' | 'False'): string =>
  once('condition', `type="${type}",status="${status}"`);
const count = (expression: string): string => `count(${expression}) or vector(0)`;
const ofObject = '{{namespace}}/{{name}}';
const stat = (title: string, description: string, expression: string): PanelSpec => ({
  title,
  description,
  type: 'stat',
  queries: [{ expression, legend: title }],
});
const lines = (title: string, description: string, unit: string, ...queries: PanelSpec['queries']): PanelSpec => ({
  title,
  description,
  type: 'timeseries',
  unit,
  queries,
});
const latency = (quantile: number): Query => ({
  expression: `histogram_quantile(${quantile}, sum by (le) (rate(${metric('reconcile_duration_seconds_bucket')}[$__rate_interval])))`,
  legend: `${quantile * 100}th percentile`,
});

/** All control planes, and the operator that reconciles them. */
export const fleetPanels: readonly PanelSpec[] = [
  stat('Control planes', 'HostedControlPlanes that have a condition.', count(isStatus('Ready', 'True'))),
  stat(
    'Not available',
    'Control planes whose API server does not serve, without those that hibernate.',
    count(`${isStatus('Available', 'True')} == 0 unless on (namespace, name) ${isStatus('Awake', 'False')} == 1`),
  ),
  stat(
    'Not ready',
    'Control planes for which something is missing, without those that hibernate.',
    count(`${isStatus('Ready', 'True')} == 0 unless on (namespace, name) ${isStatus('Awake', 'False')} == 1`),
  ),
  stat(
    'Without backups',
    'Control planes whose spec asks for no backups.',
    count(`${isStatus('Ready', 'True')} unless on (namespace, name) ${once('backup_period_seconds')}`),
  ),
  stat(
    'Unhealthy etcd',
    'Control planes with a lost or damaged member, or without a leader.',
    count(`${isStatus('EtcdClusterHealthy', 'False')} == 1`),
  ),
  stat('Paused', 'Control planes that the operator leaves alone.', count(`${isStatus('Paused', 'True')} == 1`)),
  stat('Hibernating', 'Control planes that stop, or have stopped.', count(`${isStatus('Awake', 'False')} == 1`)),
  lines('States', 'Impaired ones are Ready, and something else does not work, such as backups.', 'short', {
    expression: `count by (state) (${once('state', '', 'namespace, name, state')})`,
    legend: '{{state}}',
  }),
  lines('Versions', 'Control planes by the version of Kubernetes that serves.', 'short', {
    expression: `count by (version) (${once('info', '', 'namespace, name, version')})`,
    legend: '{{version}}',
  }),
  lines('Release revisions', 'Control planes by the templates, flags and default images they have.', 'short', {
    expression: `count_values("revision", ${once('release_revision')})`,
    legend: '{{revision}}',
  }),
  lines('Fullest etcds', 'The ten that use most of their quota. At 1 etcd takes no writes.', 'percentunit', {
    expression: `topk(10, ${once('etcd_quota_used_ratio')})`,
    legend: ofObject,
  }),
  lines('Oldest backups', 'Age of the newest backup of ten control planes.', 's', {
    expression: `topk(10, time() - ${once('last_backup_timestamp_seconds')})`,
    legend: ofObject,
  }),
  lines('Certificates that expire first', 'Time that is left. The operator renews its own in time.', 's', {
    expression: `bottomk(10, ${once('certificate_expiration_timestamp_seconds', '', 'namespace, name, kind')} - time())`,
    legend: `${ofObject} {{kind}}`,
  }),
  lines(
    'Duration of reconciles',
    'Slow ones wait for the API server, or for processor time.',
    's',
    latency(0.5),
    latency(0.99),
  ),
  lines('Reconciles', 'By their result. Errors continue until their cause is gone.', 'ops', {
    expression: `sum by (result) (rate(${metric('reconcile_duration_seconds_count')}[$__rate_interval]))`,
    legend: '{{result}}',
  }),
  lines('Requests', 'To the management cluster and to hosted clusters.', 'reqps', {
    expression: `sum by (cluster, code) (rate(${metric('api_requests_total')}[$__rate_interval]))`,
    legend: '{{cluster}} {{code}}',
  }),
  lines(
    'Work of the operator',
    'Control planes that wait for a worker, and background tasks, such as uploads.',
    'short',
    { expression: `max(${metric('workqueue_depth')})`, legend: 'waiting' },
    { expression: `max(${metric('background_work_running')})`, legend: 'tasks' },
  ),
];

const one = 'namespace="$namespace",name="$name"';

/** One control plane. */
export const controlPlanePanels: readonly PanelSpec[] = [
  {
    title: 'Conditions',
    description:
      'Of Ready, Available and Initialized, True is 1. Any other condition is here while it is not what it usually is: the first step that is False blocks the others.',
    type: 'state-timeline',
    queries: [
      {
        expression: once('condition', `${one},type=~"Ready|Available|Initialized",status="True"`, 'type'),
        legend: '{{type}}',
      },
      {
        expression: once('condition', `${one},type!~"Ready|Available|Initialized"`, 'type, status'),
        legend: '{{type}} is {{status}}',
      },
    ],
  },
  lines('Version', 'Version of Kubernetes that serves.', 'short', {
    expression: once('info', one, 'version'),
    legend: '{{version}}',
  }),
  lines(
    'Pods of components',
    'Wanted and ready.',
    'short',
    { expression: once('component_replicas', one, 'component'), legend: '{{component}}' },
    { expression: once('component_ready_replicas', one, 'component'), legend: '{{component}} ready' },
  ),
  lines('Members of etcd', 'By their role. Lost, Missing and Unreachable need a look.', 'short', {
    expression: once('etcd_members', one, 'role'),
    legend: '{{role}}',
  }),
  lines('Quota of etcd', 'Part of the quota that the largest database uses.', 'percentunit', {
    expression: once('etcd_quota_used_ratio', one),
    legend: 'used',
  }),
  lines('Volume of etcd', 'Size of the volume of each member.', 'bytes', {
    expression: once('etcd_volume_size_bytes', one),
    legend: 'size',
  }),
  lines('Age of the newest backup', 'More than the schedule says is too old.', 's', {
    expression: `time() - ${once('last_backup_timestamp_seconds', one)}`,
    legend: 'age',
  }),
  lines(
    'Certificates',
    'Time until the first of a kind expires, and until the operator renews it.',
    's',
    {
      expression: `${once('certificate_expiration_timestamp_seconds', one, 'kind')} - time()`,
      legend: '{{kind}} expires',
    },
    {
      expression: `${once('certificate_renewal_timestamp_seconds', one, 'kind')} - time()`,
      legend: '{{kind}} is renewed',
    },
  ),
];
