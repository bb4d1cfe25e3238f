import { describe, expect, it } from 'vitest';
import type { CertificateRequestObject } from '../../imports/cert-manager.ts';
import type { MachineDeploymentObject, MachineObject, MachinePoolObject } from '../../imports/cluster-api.ts';
import type { TLSRouteObject } from '../../imports/gateway-api.ts';
import type {
  CertificateSigningRequestObject,
  ConfigMapObject,
  CustomResourceDefinitionObject,
  DaemonSetObject,
  DeploymentObject,
  EndpointSliceObject,
  EventObject,
  LeaseObject,
  NodeObject,
  PersistentVolumeClaimObject,
  PersistentVolumeObject,
  PodObject,
  ResourceQuotaObject,
  SecretObject,
  ServiceCIDRObject,
  ServiceObject,
  StatefulSetObject,
} from '../../imports/kubernetes.ts';
import { CustomResourceDefinition, optionalResources, type Resource } from '../../constructs/api/resources.ts';
import { chooseListener } from '../../constructs/control-plane/exposure/listener.ts';
import { verificationPodState } from '../../reconciler/backup/verify/verification-pod.ts';
import { problemOf as restoreProblem } from '../../reconciler/backup/restore/observe-restore.ts';
import { certificateIn } from '../../reconciler/certificates/expiries.ts';
import { isHeld } from '../../reconciler/certificates/held-secret.ts';
import { attemptOf, isTo } from '../../reconciler/certificates/issuer/certificate-request.ts';
import { progressOf } from '../../reconciler/certificates/issuer/plan-request.ts';
import { askingNode, awaitsServing, objection } from '../../reconciler/certificates/kubelets/plan-approval.ts';
import { orphanKey } from '../../reconciler/certificates/orphaned-secrets.ts';
import { answeredBy } from '../../reconciler/certificates/rotation-request.ts';
import { problemOf as keysProblem } from '../../reconciler/certificates/service-account-key/rotated-keys.ts';
import {
  readTokenRecord,
  runningTokenSeconds,
} from '../../reconciler/certificates/service-account-key/token-record.ts';
import {
  bootstrapDataOf,
  joinsByOldData,
  mustAnnotate,
  poolOf,
} from '../../reconciler/certificates/workers/machines.ts';
import { deploymentOf, isOlderThan, machineOf, mustRollOut } from '../../reconciler/certificates/workers/machines.ts';
import { issuedToNodes } from '../../reconciler/certificates/workers/node-certificates.ts';
import { withoutSecrets } from '../../reconciler/cli/collect/without-secrets.ts';
import { gatewayCauses } from '../../reconciler/cli/status/gateway-causes.ts';
import { warningsAbout } from '../../reconciler/cli/status/warnings.ts';
import { exceededBy, usageOf } from '../../reconciler/clusters/dry-run/quota.ts';
import { type GatewayObject, gatewayState } from '../../reconciler/clusters/exposure/gateway-object.ts';
import { hostClaimOfRoute } from '../../reconciler/clusters/management/host-claims.ts';
import { contractKind } from '../../reconciler/clusters/exposure/infrastructure-endpoint.ts';
import { publishToInfrastructure } from '../../reconciler/clusters/exposure/infrastructure-endpoint.ts';
import { listenersOf, routeStateOf } from '../../reconciler/clusters/exposure/route-status.ts';
import { describeUnreachable } from '../../reconciler/clusters/exposure/unreachable.ts';
import { keptApplied, keptIdentity } from '../../reconciler/clusters/hosted/kept-objects.ts';
import { keptRequest } from '../../reconciler/clusters/hosted/kept-objects.ts';
import { keptNode, keptReport, lastReport } from '../../reconciler/clusters/hosted/kept-objects.ts';
import * as networks from '../../reconciler/clusters/network/cluster-networks.ts';
import { infrastructureOf } from '../../reconciler/clusters/exposure/infrastructure-endpoint.ts';
import { owningCluster } from '../../reconciler/clusters/management/owning-cluster.ts';
import {
  apiServerArguments,
  apiServerImage,
  repeatedArgument,
} from '../../reconciler/clusters/pods/api-server-arguments.ts';
import { argumentOf } from '../../reconciler/clusters/management/network-in-use.ts';
import { findPodProblem, unexplained, untilLateMs } from '../../reconciler/clusters/pods/pod-problem.ts';
import { refusedWorkloads } from '../../reconciler/clusters/pods/retry-refused.ts';
import { hasReplicas } from '../../reconciler/clusters/pods/servers.ts';
import { wasStartedWith } from '../../reconciler/clusters/pods/secret-files.ts';
import { waitForEnd } from '../../reconciler/clusters/pods/termination.ts';
import { unstableOf } from '../../reconciler/clusters/pods/wait-for-pods.ts';
import { readWarnings } from '../../reconciler/clusters/management/warnings.ts';
import { checkResultOf } from '../../reconciler/desired-state/api-server/check-pod.ts';
import { revisionsAmong } from '../../reconciler/desired-state/revision/revisions.ts';
import { readEncryptionKeys } from '../../reconciler/encryption-at-rest/secret.ts';
import { RequestCaches } from '../../reconciler/engine/tasks/request-cache.ts';
import { etcdHTTPPort } from '../../reconciler/etcd/access.ts';
import { knownMembers } from '../../reconciler/etcd/member-objects.ts';
import { planStorageClass } from '../../reconciler/etcd/storage-class.ts';
import { strandedClaims } from '../../reconciler/etcd/member-objects.ts';
import { observeVolumes } from '../../reconciler/etcd/volumes.ts';
import { kamajiControlPlane, type TenantControlPlaneObject } from '../../reconciler/import/kamaji.ts';
import { decideLease, observeLease } from '../../reconciler/kube/lease-decision.ts';
import { withoutNulls } from '../../reconciler/kube/missing-values.ts';
import type { KubeObject, ObjectMeta } from '../../reconciler/kube/object.ts';
import * as readiness from '../../reconciler/kube/readiness.ts';
import { clusterDns } from '../../reconciler/operator/connected-operator.ts';
import { apiServerService } from '../../reconciler/phases/api-server-service.ts';
import { contentOf } from '../../reconciler/pki/request-content.ts';
import { pairOf } from '../../reconciler/pki/secret.ts';
import { countsOf, versionsOf } from '../../reconciler/reconcile/status/api-servers.ts';
import { componentsOf } from '../../reconciler/reconcile/status/components.ts';
import { RequestLimits } from '../../reconciler/signer/limits.ts';
import { kubeletRequest } from '../support/kubelet-request.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { clusterObjectWith, now, scopeOf } from '../support/scope.ts';
import { servedVersions } from '../../reconciler/kube/optional-api.ts';
import { grantOf } from '../../reconciler/phases/audit/audit-secret.ts';

const time = '2026-11-21T11:00:00Z';
const place = { cluster: 'c1', namespace: 'team' };
const gateway = { namespace: 'gateways', name: 'shared' };
const evidence = {
  nodeAddresses: [{ type: 'InternalIP', address: '192.0.2.21' }],
  machines: [],
  isReserved: () => false,
};
const definitionLabels = { 'cluster.x-k8s.io/v1beta2': 'v1_v2' };

function named(apiVersion: string, kind: string, name: string, changes: Partial<ObjectMeta> = {}) {
  const labels = { a: 'b', 'cluster.x-k8s.io/deployment-name': 'md' };
  const annotations = { a: 'b', 'cluster.x-k8s.io/machine': 'm1' };
  const identity = { name, namespace: 'team', uid: `uid-${name}`, resourceVersion: '5', generation: 1 };
  const metadata = { ...identity, creationTimestamp: time, labels, annotations, finalizers: ['a/b'], ...changes };
  return { apiVersion, kind, metadata };
}

const running = { running: { startedAt: time } };
const ended = { terminated: { exitCode: 1, reason: 'Error', message: 'm', startedAt: time, finishedAt: time } };
const resources = { requests: { cpu: '1' }, limits: { memory: '1Gi' } };
const probe = { httpGet: { path: '/', port: 1 } };
const podSpec = {
  nodeName: 'n1',
  initContainers: [{ name: 'receive', resources, restartPolicy: 'Always' }],
  containers: [
    {
      name: 'etcd',
      image: 'etcd:v1',
      args: ['--a=b'],
      ports: [{ name: 'http', containerPort: 1 }],
      readinessProbe: probe,
    },
    { name: 'kube-apiserver', image: 'i:v1', args: ['--service-account-max-token-expiration=1h'], resources },
  ],
};
const condition = { status: 'False', observedGeneration: 1, reason: 'NoMatchingParent', message: 'm' };
const accepted = { ...condition, type: 'Accepted' };

const pod: PodObject = {
  ...named('v1', 'Pod', 'c1-etcd-0'),
  spec: podSpec,
  status: {
    phase: 'Running',
    podIP: '192.0.2.1',
    conditions: [{ type: 'Ready', status: 'False' }],
    initContainerStatuses: [{ name: 'receive', state: running }],
    containerStatuses: [
      { name: 'etcd', ready: false, started: true, restartCount: 4, state: running, lastState: ended },
      { name: 'other', ready: false, state: { waiting: { reason: 'ImagePullBackOff', message: 'm' } } },
    ],
  },
};
const unscheduled = { type: 'PodScheduled', status: 'False', message: 'm', reason: 'r' };
const pendingPod: PodObject = { ...pod, status: { phase: 'Pending', conditions: [unscheduled] } };
const endedPod: PodObject = {
  ...named('v1', 'Pod', 'c1-etcd-0', { deletionTimestamp: time, finalizers: [] }),
  spec: podSpec,
  status: { phase: 'Failed', reason: 'Evicted', message: 'm', containerStatuses: [{ name: 'etcd', state: ended }] },
};
const workload = {
  replicas: 2,
  template: { metadata: { labels: { a: 'b' }, annotations: { a: 'b' } }, spec: podSpec },
};
const counts = { observedGeneration: 1, replicas: 2, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
const refused = { type: 'ReplicaFailure', status: 'True', message: 'm', lastTransitionTime: time };
const deployment: DeploymentObject = {
  ...named('apps/v1', 'Deployment', 'd'),
  spec: workload,
  status: { ...counts, conditions: [refused, { type: 'Progressing', status: 'True', reason: 'r' }] },
};
const scheduled = { observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 1, numberAvailable: 0 };
const daemonSet: DaemonSetObject = { ...named('apps/v1', 'DaemonSet', 'd'), status: scheduled };
const storage = { storageClassName: 's', volumeName: 'v', resources: { requests: { storage: '1Gi' } } };
const set: StatefulSetObject = {
  ...named('apps/v1', 'StatefulSet', 'c1-etcd'),
  spec: { ...workload, volumeClaimTemplates: [{ ...named('v1', 'PersistentVolumeClaim', 'data'), spec: storage }] },
  status: { ...counts, updateRevision: 'a', currentRevision: 'b' },
};
const claim: PersistentVolumeClaimObject = {
  ...named('v1', 'PersistentVolumeClaim', 'data-c1-etcd-0'),
  spec: storage,
  status: {
    phase: 'Bound',
    capacity: { storage: '1Gi' },
    conditions: [{ type: 'NodeResizeError', status: 'True', message: 'm' }],
  },
};
const onHost = { key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] };
const volume: PersistentVolumeObject = {
  ...named('v1', 'PersistentVolume', 'v'),
  spec: { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onHost] }] } } },
};
const node: NodeObject = {
  ...named('v1', 'Node', 'n1'),
  spec: { podCIDR: '192.0.2.0/28', podCIDRs: ['192.0.2.0/28'] },
  status: {
    addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time }],
  },
};
const balancer: ServiceObject = {
  ...named('v1', 'Service', 's-c1'),
  spec: { type: 'LoadBalancer', selector: { a: 'b' }, ports: [{ port: 53, protocol: 'UDP', targetPort: 53 }] },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', hostname: 'lb.cloud.test', ports: [] }] } },
};
const networkOfServices: ServiceCIDRObject = {
  ...named('networking.k8s.io/v1', 'ServiceCIDR', 'kubernetes'),
  spec: { cidrs: ['192.0.2.0/24', '2001:db8::/108'] },
};
const slice: EndpointSliceObject = {
  ...named('discovery.k8s.io/v1', 'EndpointSlice', 'kubernetes'),
  endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
};
const except = { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['192.0.2.1/32'] } }] };
const policy = { ...named('networking.k8s.io/v1', 'NetworkPolicy', 'p'), spec: { egress: [except] } };
const held = {
  holderIdentity: 'other',
  leaseDurationSeconds: 15,
  acquireTime: time,
  renewTime: time,
  leaseTransitions: 1,
};
const lease: LeaseObject = { ...named('coordination.k8s.io/v1', 'Lease', 'operator'), spec: held };
const event: EventObject = {
  ...named('events.k8s.io/v1', 'Event', 'e'),
  regarding: { uid: 'u', kind: 'Gateway', name: 'shared', fieldPath: 'spec.containers{etcd}' },
  note: 'n',
  reason: 'r',
  type: 'Warning',
  eventTime: time,
  series: { count: 1, lastObservedTime: time },
  reportingController: 'kubelet',
};
const secret: SecretObject = {
  ...named('v1', 'Secret', 'c1-ca'),
  type: 'Opaque',
  data: { 'tls.crt': 'eA==', 'tls.key': '?', 'config.yaml': 'eA==' },
};
const revision: ConfigMapObject = {
  ...named('v1', 'ConfigMap', 'c1-revision-1'),
  data: { spec: '{"version":"v1.36.3"}', generation: '1', release: '{}', served: 'true', failure: 'm' },
};
const quota: ResourceQuotaObject = {
  ...named('v1', 'ResourceQuota', 'q'),
  spec: { hard: { pods: '1' } },
  status: { hard: { pods: '1', cpu: '1' }, used: { pods: '1', cpu: '1' } },
};
const endpointSchema = { properties: { spec: { properties: { controlPlaneEndpoint: { properties: {} } } } } };
const definition: CustomResourceDefinitionObject = {
  ...named('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'boxclusters.example.org', {
    labels: definitionLabels,
  }),
  spec: {
    group: 'example.org',
    names: { kind: 'BoxCluster', plural: 'boxclusters' },
    versions: [
      { name: 'v1', served: true, schema: { openAPIV3Schema: endpointSchema } },
      { name: 'v2', served: true },
    ],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};
const kubeletCSR: CertificateSigningRequestObject = await kubeletRequest();
const signedCSR: CertificateSigningRequestObject = {
  ...kubeletCSR,
  status: { certificate: 'eA==', conditions: [{ type: 'Approved', status: 'True' }] },
};
const chosen = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] };
const listener = {
  name: 'tls',
  protocol: 'TLS',
  port: 443,
  hostname: '*.example.org',
  tls: { mode: 'Passthrough' },
  allowedRoutes: { kinds: [{ kind: 'TLSRoute' }], namespaces: { from: 'Selector', selector: chosen } },
};
const shared: GatewayObject = {
  ...named('gateway.networking.k8s.io/v1', 'Gateway', 'shared'),
  spec: { gatewayClassName: 'c', listeners: [listener] },
  status: {
    addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
    conditions: [accepted],
    listeners: [{ name: 'tls', conditions: [accepted] }],
  },
};
const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', ...gateway, sectionName: 'tls' };
const route: TLSRouteObject = {
  ...named('gateway.networking.k8s.io/v1', 'TLSRoute', 'r'),
  spec: { hostnames: ['c1.example.org'], parentRefs: [parentRef] },
  status: { parents: [{ parentRef, conditions: [accepted] }] },
};
const issuerRef = { name: 'i', kind: 'Issuer', group: 'cert-manager.io' };
const issued = { type: 'Ready', status: 'True', reason: 'Issued', message: 'm', lastTransitionTime: time };
const request: CertificateRequestObject = {
  ...named('cert-manager.io/v1', 'CertificateRequest', 'r'),
  spec: { issuerRef },
  status: { certificate: 'eA==', failureTime: time, conditions: [issued] },
};
const denied: CertificateRequestObject = { ...request, status: { conditions: [{ ...issued, type: 'Denied' }] } };
const machine: MachineObject = {
  ...named('cluster.x-k8s.io/v1beta2', 'Machine', 'm1'),
  status: { nodeRef: { name: 'n2' }, addresses: [{ type: 'InternalIP', address: '192.0.2.30' }] },
};
const machines: MachineDeploymentObject = {
  ...named('cluster.x-k8s.io/v1beta2', 'MachineDeployment', 'md'),
  spec: { rollout: { after: time } },
};
const pool: MachinePoolObject = {
  ...named('cluster.x-k8s.io/v1beta2', 'MachinePool', 'mp'),
  spec: { template: { metadata: { annotations: { a: 'b' } }, spec: { bootstrap: { dataSecretName: 's' } } } },
};
const owningObject = clusterObjectWith({
  spec: {
    clusterNetwork: { services: { cidrBlocks: ['192.0.2.0/24'] } },
    controlPlaneEndpoint: { host: 'h', port: 6443 },
    infrastructureRef: { apiGroup: 'example.org', kind: 'BoxCluster', name: 'b' },
  },
});
const box = {
  ...named('example.org/v1', 'BoxCluster', 'b'),
  spec: { controlPlaneEndpoint: { host: 'h', port: 6443 } },
};
const tenant: TenantControlPlaneObject = {
  ...named('kamaji.clastix.io/v1alpha1', 'TenantControlPlane', 't'),
  status: { certificates: { ca: { secretName: 's' } }, storage: { driver: 'etcd', dataStoreName: 'd' } },
};

/** An object that is valid, and everything that reads one of its kind. */
interface Row {
  readonly sample: KubeObject;
  readonly read: readonly ((object: KubeObject) => unknown)[];
}

function row<T extends KubeObject>(sample: T, ...read: readonly ((object: T) => unknown)[]): Row {
  return { sample, read: read as readonly ((object: KubeObject) => unknown)[] };
}

const readersOfPods: readonly ((object: PodObject) => unknown)[] = [
  (one) => [readiness.hasEnded(one), readiness.isReady(one), readiness.startedPods([one])],
  (one) => findPodProblem({ pods: [one], now }),
  (one) => [unexplained({ pods: [one], now }), untilLateMs({ pods: [one], now })],
  (one) => unstableOf([one], now),
  (one) => waitForEnd('WaitingForPods', 'waiting', [one], now),
  (one) => [argumentOf(one, 'a'), wasStartedWith(one, 'a', 'b')],
  (one) => [checkResultOf(one), verificationPodState(one), restoreProblem(one)],
  (one) => [etcdHTTPPort(one), knownMembers({ name: 'c1', namespace: 'team' }, { pods: [one], claims: [] })],
  (one) => usageOf([one]),
  (one) => versionsOf({ apiServerPods: [one], spec: { version: 'v1.36.3' } }),
];
const noWorkload = { apiServer: undefined, controllerManager: undefined, scheduler: undefined, etcd: undefined };
const noVersions = { apiServer: undefined, etcd: [] };

function holding(object: KubeObject): MemoryObjects {
  const management = new MemoryObjects();
  management.put({ ...object });
  return management;
}

/**
 * Of kinds of Kubernetes itself, in the management cluster: its API server stores what its Go types can hold, and writes null for what they
 * hold empty.
 */
const ofManagement: readonly Row[] = [
  row(pod, ...readersOfPods),
  row(pendingPod, ...readersOfPods),
  row(endedPod, ...readersOfPods),
  row(
    deployment,
    (one) => [readiness.deploymentReadiness(one), readiness.somePodAvailable(one), hasReplicas(one)],
    (one) => [findPodProblem({ pods: [], deployments: [one], now }), refusedWorkloads({ deployments: [one] })],
    (one) => [apiServerArguments(one), repeatedArgument(one, 'a'), apiServerImage(one), runningTokenSeconds(one)],
    (one) => componentsOf({ ...place, ...noWorkload, apiServer: one, scheduler: one }, noVersions),
    (one) => countsOf({ spec: { version: 'v1.36.3' }, apiServer: one, apiServerPods: [] }),
  ),
  row(daemonSet, readiness.somePodAvailable, (one) => refusedWorkloads({ daemonSets: [one] })),
  row(
    set,
    (one) => [readiness.statefulSetReadiness(one), readiness.presentRevision(one)],
    (one) => findPodProblem({ pods: [], sets: [one], now }),
    (one) => refusedWorkloads({ sets: [one], warnings: [{ uid: 'uid-c1-etcd', words: 'w' }] }),
    (one) => planStorageClass({ wanted: 'a', set: one, claims: [], isFormed: false }),
    (one) => observeVolumes('c1', holding(one), undefined),
    (one) => componentsOf({ ...place, ...noWorkload, etcd: one }, noVersions),
  ),
  row(
    claim,
    (one) => [findPodProblem({ pods: [], claims: [one], now }), usageOf([one])],
    (one) => planStorageClass({ wanted: 'a', set, claims: [one], isFormed: false }),
    (one) => observeVolumes('c1', { get: () => undefined, list: <T>() => [one] as T[] }, undefined),
    (one) => knownMembers({ name: 'c1', namespace: 'team' }, { pods: [], claims: [one] }),
  ),
  row(volume, (one) => strandedClaims({ pods: [pendingPod], claims: [claim] }, holding(one))),
  row(
    node,
    (one) => networks.podNetworksOf([networks.keptOfNode(one)]),
    (one) => networks.nodeNetworksOf([networks.keptOfNode(one)]),
  ),
  row(
    balancer,
    (one) => apiServerService.run(scopeOf(holding(one))),
    (one) =>
      clusterDns({ list: async <T>() => ({ items: [one as T], resourceVersion: '1' }) }, 'nameserver 192.0.2.10'),
  ),
  row(networkOfServices, (one) => networks.serviceNetworksOf([one])),
  row(slice, networks.apiServersIn, (one) => networks.apiServerNetworksOf([one])),
  row(policy, networks.deniedAddressesIn),
  row(lease, (one) => {
    const times = { durationMs: 3, renewDeadlineMs: 2, retryMs: 1 };
    return decideLease(one, observeLease(one, undefined, 0), 'operator', { now: 0, elapsed: 0 }, times);
  }),
  row(
    event,
    (one) => warningsAbout({ kind: 'Gateway', name: 'shared' }, [one], now.getTime()),
    (one) => {
      async function* pages() {
        yield [one];
      }
      return readWarnings({ pages }, { namespace: 'team', now }, [{ uid: 'u' }]);
    },
  ),
  row(
    secret,
    (one) => [pairOf(one), keysProblem(one), certificateIn(one, 'apiServer'), isHeld(one), orphanKey(one)],
    (one) => [readTokenRecord(one), answeredBy(one), readEncryptionKeys(one), grantOf(one, 'team', 'a:443')],
    withoutSecrets,
  ),
  row(revision, (one) => revisionsAmong([one], { metadata: { uid: 'u' } }, 'c1'), withoutSecrets),
  row(quota, (one) => exceededBy([pod], [one], {})),
  row(definition, contractKind, (one) => servedVersions(one, optionalResources.TLSRoute)),
  row(kubeletCSR, (one) => new RequestLimits().keep(one)),
  row(signedCSR, (one) => new RequestLimits().keep(one)),
];

/** Of the API server of a hosted cluster, which may be the tenant's own, and of CustomResourceDefinitions of others: anything. */
const ofOthers: readonly Row[] = [
  row(deployment, (one) => [
    readiness.somePodAvailable(keptApplied(one)),
    refusedWorkloads({ deployments: [keptApplied(one)] }),
  ]),
  row(daemonSet, (one) => [
    readiness.somePodAvailable(keptApplied(one)),
    refusedWorkloads({ daemonSets: [keptApplied(one)] }),
  ]),
  row(
    node,
    (one) => [keptIdentity(one), machineOf(keptNode(one)), poolOf(keptNode(one)), lastReport(keptReport(one))],
    (one) => objection(kubeletCSR, { ...evidence, nodeAddresses: one.status?.addresses }),
  ),
  row(
    kubeletCSR,
    (one) => [awaitsServing(keptRequest(one)), askingNode(keptRequest(one)), contentOf(keptRequest(one))],
    (one) => objection(keptRequest(one), evidence),
  ),
  row(signedCSR, (one) =>
    issuedToNodes([keptRequest(one)], { signerName: 'kubernetes.io/kubelet-serving', annotation: 'a' }),
  ),
  row(
    shared,
    gatewayState,
    (one) =>
      chooseListener({
        gateway: one,
        gatewayName: gateway,
        namespace: 'team',
        namespaceLabels: { a: 'b' },
        preset: {},
      }),
    (one) => gatewayCauses({ name: gateway, gateway: one, events: [], routes: [route] }, [], now.getTime()),
    (one) =>
      describeUnreachable(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), {
        endpoint: { host: 'h', port: 1 },
        gateway: one,
      }),
  ),
  row(
    route,
    (one) => [routeStateOf(one, { ...gateway, listener: 'tls' }), listenersOf(one, gateway), hostClaimOfRoute(one)],
    (one) => gatewayCauses({ name: gateway, gateway: shared, events: [], routes: [one] }, [], now.getTime()),
  ),
  row(request, (one) => [progressOf(one, () => undefined), isTo(one, issuerRef), attemptOf(one, 's', 'h')]),
  row(denied, (one) => progressOf(one, () => undefined)),
  row(machine, (one) => [
    deploymentOf(one),
    isOlderThan(one, now),
    objection(kubeletCSR, { ...evidence, machines: [one] }),
  ]),
  row(machines, (one) => mustRollOut(one, 's', now)),
  row(pool, (one) => [
    bootstrapDataOf(one),
    mustAnnotate(one, 's'),
    joinsByOldData({ pool: one, bootstrapData: one }, now),
  ]),
  row(owningObject, (one) => [infrastructureOf(one), owningCluster(one.metadata)]),
  row(box, (one) => {
    const client = {
      find: async <T>({ kind }: Resource) => (kind === CustomResourceDefinition.kind ? definition : one) as T,
      apply: async <T>(object: T) => object as T & KubeObject,
    };
    const reference = { apiGroup: 'example.org', kind: 'BoxCluster', name: 'b' };
    const requestCaches = new RequestCaches(new ManualClock()).of('');
    return publishToInfrastructure({ client, requestCaches, namespace: 'team', reference }, { host: 'a', port: 1 });
  }),
  row(tenant, kamajiControlPlane),
];

const long = 'x'.repeat(1 << 20);
const replacements = { null: null, '[null]': [null], '{}': {}, '[]': [], '0': 0, "''": '', 'a text of 1 MiB': long };

/** Every object has these, because each API server reads them itself. */
const certain =
  /^(apiVersion|kind|metadata(\.(name|namespace|uid|resourceVersion|generation|creationTimestamp|deletionTimestamp|finalizers(\.\d)?))?)$/;

/** The object with each of its fields missing or replaced, and in words what is changed. @param mayHave whether a value may stand for another */
function* changed(object: object, mayHave: (was: unknown, value: unknown) => boolean): Generator<[string, KubeObject]> {
  for (const path of pathsIn(object)) {
    if (certain.test(path.join('.'))) continue;
    const was = valueAt(object, path);
    const last = path.at(-1) ?? '';
    const change = (how: string, by: (parent: Record<string, unknown>) => void): [string, KubeObject] => {
      const copy = structuredClone(object);
      by(valueAt(copy, path.slice(0, -1)) as Record<string, unknown>);
      const text = JSON.stringify(copy);
      return [`${path.join('.')}: ${how}`, withoutNulls(JSON.parse(text) as KubeObject, text)];
    };
    yield change('missing', (parent) => (Array.isArray(parent) ? parent.splice(Number(last), 1) : delete parent[last]));
    for (const [how, value] of Object.entries(replacements)) {
      if (mayHave(was, value)) yield change(how, (parent) => (parent[last] = value));
    }
  }
}

function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const below = [...path, name];
    return [below, ...pathsIn(field, below)];
  });
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce((value, name) => (value as Record<string, unknown>)[name], object);
}

const typeOf = (value: unknown) => (Array.isArray(value) ? 'list' : typeof value);
const asTyped = (was: unknown, value: unknown) => value === null || typeOf(was) === typeOf(value);
/** A long text stands for a text, because a short one shows as much in other places. */
const asAnything = (was: unknown, value: unknown) => value !== long || typeof was === 'string';

/** The mistakes of a program: an error of its own has another name, and becomes a condition. */
const mistakes = ['TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'];

async function mistakesOf(
  { sample, read }: Row,
  mayHave: (was: unknown, value: unknown) => boolean,
): Promise<string[]> {
  const made: string[] = [];
  for (const [what, object] of changed(sample, mayHave)) {
    for (const one of read) {
      try {
        await one(object);
      } catch (error) {
        if (error instanceof Error && mistakes.includes(error.name))
          made.push(`${what}: ${error.stack?.slice(0, 300)}`);
      }
    }
  }
  return made;
}

const titled = (rows: readonly Row[]) => rows.map((one, index) => [`${one.sample.kind} ${index}`, one] as const);

describe('no reader makes a mistake where a field is missing or odd in a', () => {
  it.each(titled(ofManagement))('%s of the management cluster', async (_, one) => {
    expect(await mistakesOf(one, asTyped)).toEqual([]);
  });

  it.each(titled(ofOthers))('%s that others define or serve', async (_, one) => {
    expect(await mistakesOf(one, asAnything)).toEqual([]);
  });
});

it('the change of an object is seen', async () => {
  const careless = row(slice, (one) =>
    one.endpoints?.map(({ addresses }) => addresses?.map((text) => text.split('.'))),
  );
  expect(await mistakesOf(careless, asTyped)).toEqual([]);
  expect((await mistakesOf(careless, asAnything)).length).toBeGreaterThan(5);
});
