import { type CertificateKind, certificateKinds } from '../../constructs/api/certificate-status.ts';
import { type ConditionType, stepTypes } from '../../constructs/api/conditions.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import type { Condition, HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { overviewOf } from '../../reconciler/cli/overview.ts';
import type { StatusReport } from '../../reconciler/cli/status/description.ts';
import type { HostedControlPlaneObject } from '../../reconciler/clusters/management/hosted-control-plane-object.ts';

export const reportedAt = Date.parse('2026-11-29T12:00:00Z');
const [second, hour, day] = [1000, 3_600_000, 86_400_000];
const ago = (ms: number) => new Date(reportedAt - ms).toISOString();

/** Seconds after its creation at which the steps of the demo's control plane were done; all others after 3. */
const doneAfter: Partial<Record<ConditionType, number>> = {
  EtcdClusterReady: 8,
  APIServerDeploymentsReady: 13,
  APIServerReachable: 13,
  WorkloadRBACReady: 13,
  WorkloadClusterInfoReady: 13,
  WorkloadKubeadmConfigReady: 13,
  WorkloadKubeletConfigReady: 13,
  WorkloadKubeletCertificatesReady: 13,
  WorkloadSetupReady: 13,
  ControllerManagerReady: 17,
  SchedulerReady: 17,
  UpgradeHoldEnded: 17,
  WorkloadKubeProxyReady: 17,
  WorkloadCoreDNSReady: 24,
  WorkloadKonnectivityReady: 24,
};

type Problem = Partial<
  Record<
    string,
    { readonly status?: 'True' | 'False'; readonly reason: string; readonly message?: string; readonly since: number }
  >
>;

/** Conditions of a control plane of this age, apart from those that differ. */
function conditionsOf(age: number, different: Problem): Condition[] {
  const done = (type: string, seconds: number): Condition => ({
    type,
    status: 'True',
    reason: 'ReconcileSucceeded',
    message: '',
    lastTransitionTime: ago(age - seconds * second),
  });
  const all = [
    done('Ready', 24),
    done('Available', 13),
    done('Initialized', 13),
    done('EtcdClusterHealthy', 8),
    ...stepTypes.map((type) => done(type, doneAfter[type] ?? 3)),
    ...['Paused', 'Deleting'].map((type) => ({ ...done(type, 0), status: 'False' as const, reason: `Not${type}` })),
  ];
  return all.map((condition) => {
    const other = different[condition.type];
    if (!other) return condition;
    const { status = 'False', reason, message = '', since } = other;
    return { ...condition, status, reason, message, lastTransitionTime: ago(since) };
  });
}

/** A healthy control plane of the demo's kind. @param different conditions @param status fields that differ */
export function reportedObject(
  [namespace, cluster]: readonly [string, string],
  age = 40 * day,
  different: Problem = {},
  status: Partial<HostedControlPlaneStatus> = {},
): HostedControlPlaneObject {
  const renewals: Partial<Record<CertificateKind, number>> = { ClusterCA: 2100, EtcdCA: 2150, ProxyCA: 2200 };
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata: { namespace, name: cluster, labels: { [clusterNameLabel]: cluster }, creationTimestamp: ago(age) },
    spec: {
      version: 'v1.37.1',
      controlPlaneEndpoint: { host: `${cluster}.${namespace}.example.com`, port: 443 },
      etcd: { backup: { secret: { name: 'etcd-backup' } } },
    },
    status: {
      version: 'v1.37.1',
      releaseRevision: 4,
      replicas: 2,
      readyReplicas: 2,
      etcd: {
        members: (['Leader', 'Follower', 'Follower'] as const).map((role, index) => ({ name: `etcd-${index}`, role })),
      },
      etcdLastBackupTime: ago(3 * hour),
      etcdNextBackupTime: ago(-3 * hour),
      certificatesNotAfter: ago(-200 * day),
      certificates: certificateKinds.map((kind, index) => ({
        kind,
        notAfter: ago(-(renewals[kind] ?? 200 + index) * 1.6 * day),
        renewsAt: ago(-(renewals[kind] ?? 200 + index * 3) * day),
        secret: `${cluster}-${kind.toLowerCase()}`,
      })),
      components: [
        { name: 'etcd', replicas: 3, readyReplicas: 3, version: '3.6.16' },
        { name: 'api-server', replicas: 2, readyReplicas: 2, version: 'v1.37.1' },
        { name: 'controller-manager', replicas: 2, readyReplicas: 2, version: 'v1.37.1' },
        { name: 'scheduler', replicas: 2, readyReplicas: 2, version: 'v1.37.1' },
      ],
      conditions: conditionsOf(age, different),
      ...status,
    } as HostedControlPlaneStatus,
  };
}

const healthy = reportedObject(['team-a', 'healthy']);
const lost = {
  reason: 'QuorumLost',
  since: 5 * hour,
  message: 'two of three members of etcd are lost: restore a backup with hcp restore',
};
const long =
  'the volume cannot be attached to node worker-with-a-very-long-name-0123456789.example.internal, because '.repeat(9);

/** A control plane in each state that a person meets. */
export const reportedObjects: readonly HostedControlPlaneObject[] = [
  healthy,
  reportedObject(
    ['team-a', 'renewal-is-late'],
    300 * day,
    {
      EtcdBackupReady: {
        reason: 'BackupFailed',
        message: 'the bucket answers 503: the operator tries it again',
        since: 2 * hour,
      },
      EtcdRestoreReady: { status: 'True', reason: 'NotRequested', since: 300 * day - 3 * second },
    },
    {
      certificatesNotAfter: ago(-9 * day),
      certificates: [
        {
          kind: 'Server',
          notAfter: ago(-9 * day),
          renewsAt: ago(90 * day),
          secret: 'late-apiserver',
          expiring: ['late-apiserver'],
        },
        { kind: 'ClusterCA', notAfter: ago(-24 * day), secret: 'own-ca' },
      ],
    },
  ),
  reportedObject(
    ['team-b', 'broken'],
    90 * day,
    {
      Ready: lost,
      Available: { ...lost, reason: 'NotAvailable' },
      EtcdClusterHealthy: lost,
      EtcdClusterReady: { reason: 'WaitingForMembers', since: 5 * hour },
      EtcdBackupReady: {
        reason: 'StoreUnavailable',
        message: 'the bucket answers 403: check the keys in Secret etcd-backup',
        since: 3 * day,
      },
      SchedulerReady: { reason: 'WaitingForOtherPhases', since: 5 * hour },
    },
    {
      readyReplicas: 0,
      etcd: {
        members: [
          { name: 'etcd-0', role: 'Follower' },
          { name: 'etcd-1', role: 'Lost' },
          { name: 'etcd-2', role: 'Lost' },
        ],
      },
      etcdLastBackupTime: ago(3 * day),
      etcdNextBackupTime: ago(2 * day),
      certificatesNotAfter: ago(2 * hour),
    },
  ),
  reportedObject(['team-b', 'rises'], 75 * second, {
    ...Object.fromEntries(
      ['Initialized', ...stepTypes.filter((type) => (doneAfter[type] ?? 0) > 8)].map((type) => [
        type,
        { reason: 'WaitingForOtherPhases', since: 75 * second },
      ]),
    ),
    Ready: { reason: 'WaitingForMembers', since: 70 * second, message: 'etcd has 1 of 3 members' },
    Available: { reason: 'NotAvailable', since: 75 * second },
    EtcdClusterReady: { reason: 'WaitingForMembers', since: 70 * second, message: 'etcd has 1 of 3 members' },
  }),
  reportedObject(['team-b', 'paused'], 12 * day, {
    Paused: {
      status: 'True',
      reason: 'Paused',
      message: 'the annotation cluster.x-k8s.io/paused is set',
      since: 2 * day,
    },
  }),
  reportedObject(
    ['team-c', 'hibernated'],
    30 * day,
    {
      Ready: { reason: 'Hibernated', since: 2 * day },
      Available: { reason: 'NotAvailable', since: 2 * day },
      Awake: { reason: 'Hibernated', since: 2 * day, message: 'as spec.hibernated asks for' },
      APIServerDeploymentsReady: { reason: 'Hibernated', since: 2 * day },
    },
    { replicas: 0, readyReplicas: 0 },
  ),
  reportedObject(['team-c', 'restoring'], 8 * day, {
    Ready: { reason: 'Restoring', since: 90 * second },
    Available: { reason: 'NotAvailable', since: 90 * second },
    EtcdRestoreReady: { reason: 'Restoring', since: 90 * second, message: 'member 1 of 3 reads backup 20261128T1200Z' },
  }),
  reportedObject(['team-c', 'deleting'], 8 * day, {
    Ready: { reason: 'WaitingForWorkersDeletion', since: 10 * 60 * second },
    Deleting: {
      status: 'True',
      reason: 'WaitingForWorkersDeletion',
      message: '3 Machines are left',
      since: 10 * 60 * second,
    },
  }),
  reportedObject(
    [
      'a-namespace-whose-name-has-as-many-characters-as-are-allowed-here',
      'a-cluster-whose-name-is-as-long-as-a-name-can-be-in-kubernetes00',
    ],
    3 * day,
    {
      Ready: { reason: 'WaitingForVolumes', since: 3 * day, message: long },
      EtcdClusterReady: { reason: 'WaitingForVolumes', since: 3 * day, message: long },
    },
  ),
  { ...reportedObject(['team-d', 'unknown'], 20 * second), status: {} },
];

/** What has been found of each of them. */
export function reportsOf(objects: readonly HostedControlPlaneObject[] = reportedObjects): StatusReport[] {
  return objects.map((object) => {
    const overview = overviewOf(object);
    const pods = [
      {
        text: `Pod ${overview.cluster}-etcd-1: is not ready`,
        causes: [{ text: `FailedScheduling 12s ago: ${long.slice(0, 200)}`, causes: [] }],
      },
    ];
    return {
      ...overview,
      causes: overview.blocker === null ? [] : pods,
      workers: {
        total: 3,
        notReady: overview.ready ? [] : ['md-0-x'],
        versions: [{ version: 'v1.37.1', count: 3 }],
        pools: [],
      },
      unknown: [],
    };
  });
}

/** What a name or a message of a hostile cluster may be. */
export const attack = `</title></style><script src="https://evil.example/x.js">alert(1)</script><img src=x onerror='alert(2)'>" onload="alert(3)`;

/** The fleet with an attack in each text that comes from a cluster. */
export function hostileReports(): StatusReport[] {
  return reportsOf().map((report) => {
    const hostile = infested(report) as StatusReport;
    return { ...hostile, state: { ...hostile.state, kind: report.state.kind } };
  });
}

/** What the program itself chooses: times, and the words of its own types. */
const own = /^(\d{4}-\d\d-\d\dT.*|ok|off|waits|fails|ignored|unknown|[A-Z]\w+Ready)$/;

function infested(value: unknown): unknown {
  if (typeof value === 'string') return own.test(value) ? value : `${value}${attack}`;
  if (Array.isArray(value)) return value.map(infested);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, infested(one)]));
}
