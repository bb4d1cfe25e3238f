import { Namespace, ResourceQuota } from '../../../constructs/api/resources.ts';
import { enforceLabel } from '../../support/memory-cluster/admission/pod-security.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { namespace } from '../../support/scope.ts';

const admin = { fieldManager: 'admin' };

/** What a namespace demands of everything in it. */
export interface Surroundings {
  readonly name: string;
  /** Fields of the spec that it demands. */
  readonly spec: object;
  /** What an administrator of the management cluster does. */
  readonly prepare: (cluster: MemoryCluster) => Promise<unknown>;
}

export const plain: Surroundings = { name: 'a plain namespace', spec: {}, prepare: () => Promise.resolve() };

const resources = { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '256Mi' } };

/** All `resources` of a spec that are of pods in the management cluster. */
export const allResources = {
  etcd: { resources, tools: { resources } },
  deployment: {
    apiServer: { resources, konnectivity: { resources } },
    controllerManager: { resources },
    scheduler: { resources },
  },
  proxy: { resources },
};

/** A quota that is large enough, and counts what every container must say then. */
export function underQuota({ user }: MemoryCluster): Promise<unknown> {
  const { apiVersion, kind } = ResourceQuota;
  const hard = { 'limits.cpu': '64', 'limits.memory': '64Gi', 'requests.cpu': '64', 'requests.memory': '64Gi' };
  return user.create({ apiVersion, kind, metadata: { name: 'quota', namespace }, spec: { hard } }, admin);
}

export const quota: Surroundings = {
  name: 'a quota on limits, with all documented resources',
  spec: allResources,
  prepare: underQuota,
};

export const restricted: Surroundings = {
  name: 'a namespace that enforces PodSecurity restricted',
  spec: {},
  prepare: ({ user }) =>
    user.mergePatch(Namespace, { name: namespace }, { metadata: { labels: { [enforceLabel]: 'restricted' } } }, admin),
};
