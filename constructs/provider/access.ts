import type { Access, Verb } from '../access-rules.ts';
import { HostedControlPlaneSpec } from '../api/hosted-control-plane.ts';
import {
  Cluster,
  ConfigMap,
  Event,
  HostedControlPlane,
  Lease,
  Machine,
  MachinePool,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  resourceOf,
  Secret,
} from '../api/resources.ts';
import { renderControlPlane } from '../control-plane/chart.ts';
import { networkOf } from '../control-plane/cluster.ts';

/** Server-side apply is a patch, and a create where there is no object yet. */
const lookedAfter: readonly Verb[] = ['list', 'watch', 'create', 'patch', 'delete'];

/** Every kind that the control-plane chart renders: what a cluster of default settings consists of has all of them. */
export function renderedResources(): Resource[] {
  const spec = HostedControlPlaneSpec.parse({ version: 'v1.36.0', exposure: { loadBalancer: {} } });
  const cluster = { name: 'any', namespace: 'any', network: networkOf(undefined), spec };
  const facts = { endpoint: { host: 'any.example.org', port: 6443 }, certificates: {}, mounts: {} };
  return [...new Set(renderControlPlane(cluster, facts).map(resourceOf))];
}

/** Rights on what no chart renders, and more rights on what one does. */
export const furtherAccess: readonly Access[] = [
  { resource: HostedControlPlane, verbs: ['list', 'watch'], why: 'the objects we work for' },
  { resource: HostedControlPlane, verbs: ['patch'], why: 'finalizer and endpoint' },
  { resource: HostedControlPlane, subresource: 'status', verbs: ['patch'], why: 'what we report' },
  {
    resource: HostedControlPlane,
    subresource: 'finalizers',
    verbs: ['update'],
    why: 'owner references that block deletion, where the management cluster enforces that right',
  },
  { resource: Cluster, verbs: ['list', 'watch'], why: 'the owner: network, endpoint, pause' },
  { resource: Machine, verbs: ['list'], why: 'a control plane outlives its workers' },
  { resource: MachinePool, verbs: ['list'], why: 'a control plane outlives its workers' },
  { resource: Secret, verbs: lookedAfter, why: 'certificates and kubeconfigs, which no chart may hold' },
  { resource: Secret, verbs: ['get'], why: "users' own authorities and mounts carry no label to watch by" },
  { resource: ConfigMap, verbs: ['get'], why: "users' mounts carry no label to watch by" },
  { resource: Pod, verbs: ['list', 'watch'], why: 'what really runs' },
  {
    resource: PersistentVolumeClaim,
    verbs: ['list', 'watch', 'delete'],
    why: 'etcd volumes outlive their StatefulSet',
  },
  { resource: Event, verbs: ['create'], why: 'what users should read' },
];

/** Everything the operator may do in the management cluster, apart from its own namespace. */
export function managerAccess(): Access[] {
  const rendered = renderedResources().map((resource) => ({ resource, verbs: lookedAfter, why: 'rendered' }));
  return [...rendered, ...furtherAccess];
}

/** What the operator may do in its own namespace only. */
export const ownNamespaceAccess: readonly Access[] = [
  { resource: Lease, verbs: ['get', 'create', 'patch'], why: 'leader election' },
];
