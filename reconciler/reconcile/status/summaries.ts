import type { PodObject } from '../../../imports/kubernetes.ts';
import { conditionTypes, isConditionType } from '../../../constructs/api/conditions.ts';
import type { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { InClusterAccess } from '../../../constructs/api/in-cluster-access-spec.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import { selectorString } from '../../../constructs/cluster/labels.ts';
import { etcdHealth } from '../../etcd/health.ts';
import { hasQuorum, healthyVoters, quorumOf, voterCount } from '../../etcd/members.ts';
import type { EtcdReport } from '../../etcd/report.ts';
import { staying, type StatusReport } from '../../engine/status-report.ts';
import {
  type ConditionUpdate,
  conditionUpdate,
  type ConditionUpdates,
  notPaused,
} from '../../engine/condition-update.ts';
import { deploymentReadiness, isReady } from '../../kube/readiness.ts';
import { countsOf, scaling, versionsOf } from './api-servers.ts';
import { componentsOf, type Workloads } from './components.ts';
import { notQuarantined } from '../quarantine/report.ts';
import { waitedFor, withEtcdFault } from './waited-for.ts';

/** The input from which a status is computed. */
export interface Observation extends Workloads {
  readonly spec: HostedControlPlaneSpec;
  readonly previous: HostedControlPlaneStatus | undefined;
  /** Version of the binaries that emulate the version of the API servers, if any do. */
  readonly binaries?: string | undefined;
  /** Results of the phases. */
  readonly phases: ConditionUpdates;
  /** Additional status fields that the phases report. */
  readonly report: StatusReport;
  /** The last observation of etcd; undefined before the first one. */
  readonly etcdReport: EtcdReport | undefined;
  readonly apiServerPods: readonly PodObject[];
  /** Size of etcd's volumes: the current one, or the initial one before they exist. */
  readonly etcdVolumeSize: string;
  readonly loadBalancerIP: string | undefined;
  /** Whether a load balancer is asked for: its last address is kept while it has none. */
  readonly isBalanced: boolean;
  /** Issuer that is recorded with the service account keys; undefined before API servers have one. */
  readonly serviceAccountIssuer: string | undefined;
  /** How pods of the hosted cluster reach their API server; undefined before the endpoint is known. */
  readonly inClusterAccess: InClusterAccess | undefined;
  /** What of the spec has no effect, in sentences. */
  readonly overruled: readonly string[];
}

/** The status of a control plane that is neither paused nor being deleted, without conditions. */
export function observedStatus(observed: Observation): Omit<HostedControlPlaneStatus, 'conditions' | 'summary'> {
  const { cluster, previous } = observed;
  const { etcd: foundOfEtcd, ...found } = observed.report;
  const etcd = { ...previous?.etcd, ...foundOfEtcd };
  const initialized =
    previous?.initialization?.controlPlaneInitialized || observed.phases.WorkloadSetupReady?.status === 'True';
  // What never served has no version: another one may take its place at once.
  const haveServed = previous?.versions !== undefined || observed.apiServerPods.some(isReady);
  const counted = haveServed ? versionsOf(observed) : [];
  const versions = counted.length > 0 ? counted : previous?.versions;
  return {
    externalManagedControlPlane: true,
    // Never reset: conditions report an outage, and Cluster API must not start over.
    ...(initialized ? { initialization: { controlPlaneInitialized: true }, ready: true } : {}),
    ...(versions?.[0] ? { versions, version: versions[0].version } : {}),
    selector: selectorString(cluster, 'api-server'),
    ...countsOf(observed),
    components: componentsOf(observed, {
      apiServer: versions?.[0]?.version,
      etcd: etcd.members?.flatMap(({ version }) => version ?? []) ?? [],
    }),
    etcdVolumeSize: observed.etcdVolumeSize,
    ...definedOnly({
      componentTemplate: observed.spec.componentTemplateRef?.name,
      inClusterAccess: observed.inClusterAccess ?? previous?.inClusterAccess,
      serviceAccountIssuer: observed.serviceAccountIssuer ?? previous?.serviceAccountIssuer,
    }),
    ...definedOnly({ legacyIP: observed.loadBalancerIP ?? (observed.isBalanced ? previous?.legacyIP : undefined) }),
    ...staying(previous),
    ...(observed.binaries && previous?.emulation?.binaries === observed.binaries
      ? { emulation: previous.emulation }
      : {}),
    ...found,
    ...(Object.keys(etcd).length > 0 ? { etcd } : {}),
  };
}

/** The condition updates of the phases and of the summaries. */
export function summarize(observed: Observation, initialized: boolean): ConditionUpdates {
  const asleep = hibernationOf(observed.phases);
  const health = etcdHealthy(observed);
  const updates: ConditionUpdates = {
    ...observed.phases,
    Available: asleep ?? available(observed),
    Initialized: initialized
      ? conditionUpdate('True', 'Initialized')
      : conditionUpdate(
          'False',
          'NotInitialized',
          'no worker can join yet: the condition WorkloadSetupReady has the cause',
        ),
    ...scaling(observed, asleep !== undefined),
    CertificatesAvailable: certificatesAvailable(observed.phases),
    EtcdClusterHealthy: health,
    ControlPlaneComponentsHealthy: asleep ?? componentsHealthy(observed),
    SpecSupported: specSupported(observed),
    Deleting: conditionUpdate('False', 'NotDeleting'),
    ...notPaused,
    Quarantined: notQuarantined,
  };
  const isReady = ready(observed.phases, health) ?? atGates(observed, updates);
  return { ...updates, Ready: isReady };
}

/** What the summaries say of a control plane that hibernates: neither that it serves, nor that something has failed. */
function hibernationOf({ Awake: awake }: ConditionUpdates): ConditionUpdate | undefined {
  if (awake?.status !== 'False' || awake.reason === 'WaitingForOtherPhases') return undefined;
  return conditionUpdate('False', awake.reason, awake.message);
}

/**
 * True while the control plane serves, possibly degraded: an API server is available, etcd has a quorum, and all CAs
 * are usable.
 */
function available(observed: Observation): ConditionUpdate {
  const { apiServer, phases } = observed;
  const caCertificates = phases.CACertificatesReady;
  const problems = [
    (apiServer?.status?.availableReplicas ?? 0) > 0 ? undefined : 'no API server is available',
    etcdServes(observed),
    caCertificates?.status === 'True'
      ? undefined
      : (caCertificates?.message ?? 'the operator has not checked the CAs yet'),
  ].filter((problem) => problem !== undefined);
  return problems.length === 0
    ? conditionUpdate('True', 'Available')
    : conditionUpdate('False', isWakingUp(observed) ? 'WakingUp' : 'NotAvailable', problems.join('; '));
}

/** Whether no API server has answered since a hibernation, which is no outage: a user has stopped them. */
function isWakingUp({ previous }: Observation): boolean {
  return previous?.hibernation !== undefined && previous.hibernation.until === undefined;
}

/**
 * The problem when etcd has no quorum, otherwise undefined. It is derived from the readiness of the pods until the
 * members have been observed.
 */
function etcdServes({ etcd, etcdReport, spec }: Observation): string | undefined {
  if (etcdReport && etcdReport.observation.membership !== 'unknown') {
    const { observation } = etcdReport;
    const voters = voterCount(observation);
    const well = healthyVoters(observation).length;
    return hasQuorum(observation)
      ? undefined
      : `${well} of ${voters} etcd members are healthy, but a quorum needs ${quorumOf(voters)}: see the condition EtcdClusterHealthy`;
  }
  const quorum = quorumOf(spec.etcd.replicas);
  const ready = etcd?.status?.readyReplicas ?? 0;
  return ready >= quorum
    ? undefined
    : `${ready} of ${spec.etcd.replicas} etcd members are ready, but a quorum needs ${quorum}: see the condition EtcdClusterReady`;
}

function certificatesAvailable(phases: ConditionUpdates): ConditionUpdate {
  const problem = [phases.CACertificatesReady, phases.EtcdCertificatesReady, phases.CertificatesReady].find(
    (phase) => phase?.status !== 'True',
  );
  return problem ? conditionUpdate('False', 'NotAvailable', problem.message) : conditionUpdate('True', 'Available');
}

function etcdHealthy({ etcd, etcdReport, phases, previous, report }: Observation): ConditionUpdate {
  if (['StoppingMembers', 'Hibernated'].includes(phases.EtcdClusterReady?.reason ?? ''))
    return conditionUpdate('Unknown', 'HealthUnknown', phases.EtcdClusterReady?.message);
  // What its members said before they were stopped is no news.
  if (etcd?.spec?.replicas === 0)
    return conditionUpdate('False', 'NotHealthy', 'no etcd member runs: see the condition EtcdRestoreReady');
  // Before etcd is formed, missing answers are expected.
  const clusterId = report.etcd?.clusterID ?? previous?.etcd?.clusterID;
  const isFormed = clusterId !== undefined || etcdReport?.observation.membership === 'confirmed';
  if (etcdReport && isFormed)
    return etcdHealth(etcdReport, { ...previous?.etcd, ...definedOnly({ clusterID: clusterId }) });
  if (!etcd) return conditionUpdate('Unknown', 'HealthUnknown', 'etcd has not been created yet');
  const wanted = etcd.spec?.replicas ?? 1;
  const ready = etcd.status?.readyReplicas ?? 0;
  return ready >= wanted
    ? conditionUpdate('True', 'Healthy')
    : conditionUpdate('False', 'NotHealthy', `${ready} of ${wanted} etcd members are ready`);
}

function componentsHealthy(observed: Observation): ConditionUpdate {
  const components = [
    ['API server', observed.apiServer],
    ['controller manager', observed.controllerManager],
    ['scheduler', observed.scheduler],
  ] as const;
  const problems = components.flatMap(([name, deployment]) => {
    const readiness = deploymentReadiness(deployment);
    return readiness.ready ? [] : [`${name}: ${readiness.message}`];
  });
  return problems.length === 0
    ? conditionUpdate('True', 'Healthy')
    : conditionUpdate('False', 'NotHealthy', problems.join('; '));
}

/** Apart from Ready: the control plane works as if the settings were unset. */
function specSupported({ overruled }: Observation): ConditionUpdate {
  if (overruled.length === 0) return conditionUpdate('True', 'Supported');
  return conditionUpdate('False', 'Overruled', overruled.join('; '));
}

/** Ready is False for the phase that blocks; undefined when none does. A long message is cut at its end. */
function ready(phases: ConditionUpdates, health: ConditionUpdate): ConditionUpdate | undefined {
  const steps = conditionTypes.flatMap((type) => (phases[type] ? [{ type, ...phases[type] }] : []));
  const waiting = waitedFor(withEtcdFault(steps, { type: 'EtcdClusterHealthy', ...health }));
  const [blocking] = waiting;
  if (blocking === undefined) return undefined;
  return conditionUpdate('False', blocking.reason, waiting.map(({ message }) => message).join('; '));
}

/** Ready, unless a readiness gate of the user is closed. */
function atGates({ previous, spec }: Observation, updates: ConditionUpdates): ConditionUpdate {
  const closed = (spec.readinessGates ?? []).flatMap(({ conditionType: type }) => {
    const gate = isConditionType(type) ? updates[type] : previous?.conditions?.find((one) => one.type === type);
    if (gate?.status === 'True') return [];
    if (gate === undefined) return [`readiness gate ${type}: no controller has written this condition yet`];
    return [[`readiness gate ${type} is ${gate.status}`, gate.message].filter(Boolean).join(': ')];
  });
  if (closed.length === 0) return conditionUpdate('True', 'Ready');
  return conditionUpdate('False', 'ReadinessGate', closed.join('; '));
}
