import { compareBuild, major, minor, parse } from 'semver';
import type { KubeObject } from '../../reconciler/kube/object.ts';

/** The fields of a control plane that Cluster API's core reads under the contract v1beta2. */
export interface ReadByCore extends KubeObject {
  readonly spec: {
    readonly version?: string;
    readonly replicas?: number;
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
  };
  readonly status?: {
    readonly initialization?: { readonly controlPlaneInitialized?: boolean };
    readonly externalManagedControlPlane?: boolean;
    readonly version?: string;
    readonly versions?: readonly { readonly version: string; readonly replicas?: number }[];
    readonly selector?: string;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly upToDateReplicas?: number;
    readonly conditions?: readonly Readonly<Record<string, unknown>>[];
  };
}

const counters = ['replicas', 'readyReplicas', 'availableReplicas', 'upToDateReplicas'] as const;

export const isInitialized = ({ status }: ReadByCore): boolean =>
  status?.initialization?.controlPlaneInitialized === true;

/** The oldest version that serves. Core before 1.14 reads the second field only. */
const servedVersion = ({ status }: ReadByCore): string | undefined => status?.versions?.[0]?.version ?? status?.version;

/** While this is true, core creates no Machine, and its webhook takes no version of a topology. */
export const isProvisioning = (object: ReadByCore): boolean => !servedVersion(object);

/** While this is true, workers stay at their version. */
export function isUpgrading(object: ReadByCore): boolean {
  const { spec, status } = object;
  const served = status?.versions?.map(({ version }) => version) ?? [servedVersion(object)];
  return served.some((version) => version !== undefined && isOlder(version, spec.version));
}

/** Whether core's tests and `clusterctl describe` find fewer or more replicas than wanted; missing counts as that. */
export const isScaling = ({ spec, status }: ReadByCore): boolean =>
  counters.some((field) => status?.[field] !== spec.replicas);

/** Before core creates a Machine: none of the reasons for which it would wait. */
export const isStable = (object: ReadByCore): boolean => !isProvisioning(object) && !isUpgrading(object);

/** Whether core creates a Machine of this version, with a kubeadm of the same version. */
export function allowsMachine(object: ReadByCore, machine: string): boolean {
  const { version = '' } = object.spec;
  if (!isStable(object) || parse(version) === null || parse(machine) === null) return false;
  const behind = minor(version) - minor(machine);
  return major(version) === major(machine) && behind === 0;
}

/** What core could not read, or would mistake. @param before the object when core last read it */
export function problemsFor(object: ReadByCore, before: ReadByCore | undefined): string[] {
  return [...problemsOfStatus(object), ...problemsOfChange(object, before)];
}

function problemsOfStatus({ spec, status = {} }: ReadByCore): string[] {
  const { versions = [], conditions = [] } = status;
  const names = versions.map(({ version }) => version);
  const isReported = conditions.some(({ type }) => type === 'Available');
  return [
    ...(isReported ? counters.filter((field) => !isCount(status[field])).map((field) => `${field} is no count`) : []),
    ...(isReported && !status.selector ? ['there is no selector'] : []),
    ...(isReported && !status.externalManagedControlPlane ? ['core would expect control plane Machines'] : []),
    ...(names.some((version) => parse(version) === null) ? [`a version of ${names.join()} is none`] : []),
    ...(names.some((version, index) => isOlder(version, names[index - 1])) ? [`${names.join()} is not in order`] : []),
    ...versions.filter(({ replicas }) => !isCount(replicas)).map(({ version }) => `${version} has no count`),
    ...(status.version === names[0] ? [] : [`version ${status.version} is not the oldest of ${names.join()}`]),
    ...conditions.filter((one) => !isCondition(one)).map((one) => `core cannot read condition ${JSON.stringify(one)}`),
    ...(status.initialization?.controlPlaneInitialized && !isEndpoint(spec.controlPlaneEndpoint)
      ? ['it is initialized without an endpoint']
      : []),
    // Core would create no Machine before its next reconcile.
    ...(status.initialization?.controlPlaneInitialized && names.length === 0
      ? ['it is initialized without a version']
      : []),
  ];
}

function problemsOfChange(object: ReadByCore, before: ReadByCore | undefined): string[] {
  if (before === undefined) return [];
  const [old, now] = [before, object].map(({ spec: { controlPlaneEndpoint: { host = '', port = 0 } = {} } }) => ({
    host,
    port,
  }));
  const isChanged = isEndpoint(old) && (old?.host !== now?.host || old?.port !== now?.port);
  return [
    ...(isChanged ? [`the endpoint ${old?.host}:${old?.port} has changed to ${now?.host}:${now?.port}`] : []),
    ...(isInitialized(before) && !isInitialized(object) ? ['it is not initialized any more'] : []),
    ...(isProvisioning(object) && !isProvisioning(before) ? ['it has no version any more'] : []),
  ];
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

const isEndpoint = (endpoint: { readonly host?: string; readonly port?: number } | undefined): boolean =>
  Boolean(endpoint?.host && endpoint.port);

function isCondition({
  type,
  status,
  reason,
  message,
  lastTransitionTime,
  observedGeneration,
}: Record<string, unknown>) {
  return (
    [type, reason, message, lastTransitionTime].every((text) => typeof text === 'string') &&
    ['True', 'False', 'Unknown'].includes(String(status)) &&
    !Number.isNaN(Date.parse(String(lastTransitionTime))) &&
    isCount(observedGeneration)
  );
}

function isOlder(version: string, other: string | undefined): boolean {
  const [one, two] = [parse(version), parse(other)];
  return one !== null && two !== null && compareBuild(one, two) < 0;
}
