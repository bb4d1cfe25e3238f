import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import type { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';

/** What a case works with: a client of an administrator, clients of others, and its own namespace. */
export interface KubeCaseContext {
  readonly client: KubernetesApi;
  /** A client of an authenticated user, who has no rights at first. */
  readonly as: (user: string, groups?: readonly string[]) => Promise<KubernetesApi>;
  /** A client whose writes reach the server, and whose answers are lost on the way back. */
  readonly losing: KubernetesApi;
  readonly namespace: string;
  /** Lets caches of the server, and controllers where there are any, act until the condition holds. */
  readonly eventually: <T>(what: string, condition: () => Promise<T | undefined | false>) => Promise<T>;
}

/** Something that every API server does, whether it is a real one or in memory. */
export interface KubeCase {
  /** A sentence about the behaviour. */
  readonly name: string;
  readonly run: (context: KubeCaseContext) => Promise<void>;
}

/** An object with arbitrary fields. */
export type AnyObject = KubeObject & Readonly<Record<string, unknown>>;

export const us = { fieldManager: 'us' };
export const them = { fieldManager: 'them' };

export function configMap(
  { namespace }: Pick<KubeCaseContext, 'namespace'>,
  data: Readonly<Record<string, string>>,
  metadata: Partial<KubeObject['metadata']> = {},
): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'one', namespace, ...metadata },
    ...(Object.keys(data).length > 0 ? { data } : {}),
  };
}

/** A pod that no scheduler gives a node and that needs no privileges. @param changes of its only container */
export function waitingPod(
  { namespace }: Pick<KubeCaseContext, 'namespace'>,
  changes: object = {},
  name = 'one',
): AnyObject {
  const securityContext = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      schedulingGates: [{ name: 'example.org/never' }],
      containers: [{ name: 'main', image: 'main:1', securityContext, ...changes }],
    },
  };
}

/** A volume claim that nothing provisions. */
export function volumeClaim(
  { namespace }: Pick<KubeCaseContext, 'namespace'>,
  storage: string,
  name = 'one',
): AnyObject {
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: '', resources: { requests: { storage } } };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, namespace }, spec };
}

export interface PodSpecChanges {
  readonly containers?: readonly object[];
  readonly spec?: object;
}

/** A Deployment that no controller reconciles. */
export function deployment(
  { namespace }: Pick<KubeCaseContext, 'namespace'>,
  { containers = [{ name: 'main', image: 'main:1' }], spec = {} }: PodSpecChanges = {},
): AnyObject {
  const labels = { app: 'one' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'one', namespace },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
      ...spec,
    },
  };
}

/** The error that a call fails with. @throws when it succeeds */
export function failure(call: Promise<unknown>): Promise<KubeError> {
  return call.then(
    () => Promise.reject(new Error('expected a failure')),
    (error: KubeError) => error,
  );
}

interface Container {
  readonly name: string;
  readonly image?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly args?: readonly string[];
}

/** The containers of a Deployment's pods. */
export function containersOf(object: AnyObject): readonly Container[] {
  const { spec } = object as unknown as { spec: { template: { spec: { containers: readonly Container[] } } } };
  return spec.template.spec.containers;
}

/** The fields that a manager has applied to an object, from its managedFields. */
export function appliedBy(object: KubeObject, manager: string): object | undefined {
  return object.metadata.managedFields?.find((entry) => entry.manager === manager && entry.operation === 'Apply')
    ?.fieldsV1;
}
