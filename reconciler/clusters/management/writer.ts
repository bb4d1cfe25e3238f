import { clusterNameLabel, fieldManager, keptAnnotation, keyFinalizer } from '../../../constructs/api/group.ts';
import {
  createdOnce,
  HostedControlPlane,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  Node,
  type Resource,
  resourceOf,
} from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import type { Endpoint } from '../../../constructs/cluster/facts.ts';
import { selectorLabels, selectorOf } from '../../../constructs/cluster/labels.ts';
import { type InfrastructureReference, publishToInfrastructure } from '../exposure/infrastructure-endpoint.ts';
import type { RequestCaches } from '../../engine/tasks/request-cache.ts';
import { tryStep } from '../dry-run/try-step.ts';
import type { ApplySet } from '../../kube/apply-set.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { isAlreadyExists, isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Rendered } from '../../kube/rendering.ts';
import { readWarnings } from './warnings.ts';
import type { ManagementCluster } from './cache.ts';
import { type ApplyOptions, type DeletionWriter, refusalKeptMs, type Writer } from './view.ts';

/** The input of a writer for one HostedControlPlane. */
export interface WriterOptions {
  readonly client: KubernetesApi;
  readonly applySet: ApplySet;
  readonly management: ManagementCluster;
  /** `namespace/name` of the HostedControlPlane. */
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly cluster: string;
  /** Infrastructure reference of the Cluster; undefined for a Cluster without infrastructure. */
  readonly infrastructure: InfrastructureReference | undefined;
  readonly requestCaches: RequestCaches;
}

/** Key of the request cache that all control planes share. */
const allControlPlanes = '';

/**
 * Separate field managers for fields that a regular apply must not remove: an apply removes fields that it does not
 * contain.
 */
const endpointManager = `${fieldManager}-endpoint`;
const labelManager = `${fieldManager}-label`;

export function createWriter(options: WriterOptions): Writer {
  const {
    client,
    applySet,
    management,
    key,
    namespace,
    name,
    cluster,
    infrastructure: reference,
    requestCaches,
  } = options;
  const remember = <T extends KubeObject>(object: T): T => {
    management.remember(object);
    return object;
  };
  return {
    async apply<T extends KubeObject>(objects: Rendered<RenderedObject>, options: ApplyOptions = {}) {
      return (await applySet.apply(key, objects, options)).map(remember) as T[];
    },
    async createOnce<T extends KubeObject>(object: RenderedObject) {
      const { live, isNew } = await createOnce<T>(client, namespace, object);
      return isNew ? remember(live) : live;
    },
    dryRun(needs) {
      const { step, creates, together, changes } = needs;
      return requestCaches
        .of(key)
        .ask(
          `dry run of ${step}`,
          [creates, together, changes],
          () => tryStep(client, namespace, needs),
          refusalKeptMs,
        );
    },
    async preview<T extends KubeObject>(objects: Rendered<RenderedObject>, { kind }: Resource) {
      return (await applySet.preview(key, objects, kind)) as T | undefined;
    },
    async adopt(resource, object) {
      const { apiVersion, kind } = resource;
      const labels = selectorLabels(cluster, 'certificates');
      const metadata = { namespace, name: object, labels };
      remember(await client.apply({ apiVersion, kind, metadata }, { fieldManager: labelManager, force: true }));
    },
    read: <T extends KubeObject>(resource: Resource, object: string) =>
      client.find<T>(resource, { namespace, name: object }),
    async readAll<T extends KubeObject>(resource: Resource, labels: Readonly<Record<string, string>>) {
      const labelSelector = selectorOf({ [clusterNameLabel]: cluster, ...labels });
      return (await client.list<T>(resource, { namespace, labelSelector })).items;
    },
    async warnings(component, objects, now) {
      const read = () => readWarnings(client, { namespace, now }, objects);
      return (await requestCaches.of(key).ask(`events of ${component}`, objects, read, refusalKeptMs)) ?? [];
    },
    async countNodes(labels) {
      const labelSelector = Object.entries(labels)
        .map(([label, values]) => `${label} in (${values.join(',')})`)
        .join(',');
      return (await client.list(Node, { labelSelector })).items.length;
    },
    async setFields(
      { apiVersion, kind },
      { metadata },
      { annotations, spec, ownerReferences, onlyIfUnchanged },
      purpose,
    ) {
      // With the UID, an apply to a deleted object is a conflict instead of a new object.
      const version = onlyIfUnchanged ? { resourceVersion: metadata.resourceVersion } : {};
      const identity = { namespace, name: metadata.name, uid: metadata.uid, ...version };
      const patch = {
        apiVersion,
        kind,
        metadata: { ...identity, ...definedOnly({ annotations, ownerReferences }) },
        ...(spec ? { spec } : {}),
      };
      remember(await client.apply(patch, { fieldManager: `${fieldManager}-${purpose}`, force: true }));
      // The fields that a chart renders are applied again, and this write is not mistaken for a change by another
      // client.
      applySet.forgetObject(key, patch);
    },
    async annotate(resource, { metadata }, annotations) {
      // With the UID, a patch of another object with its name is a conflict.
      const patch = { metadata: { ...definedOnly({ uid: metadata.uid }), annotations } };
      remember(await client.mergePatch(resource, { namespace, name: metadata.name }, patch, { fieldManager }));
    },
    async setFinalizers(resource, object, finalizers, annotations) {
      const live = await setFinalizers(client, namespace, resource, { object, finalizers, annotations });
      if (!live) return;
      // The last finalizer of a deleted object was all of it.
      if (live.metadata.deletionTimestamp === undefined) remember(live);
      applySet.forgetObject(key, live);
    },
    delete: (resource, { metadata }) =>
      client.delete(resource, { namespace, name: metadata.name }, metadata.uid ? { uid: metadata.uid } : {}),
    async recordHosts(hosts) {
      // Before the endpoint is published, and so before the status of this reconcile is complete.
      const written = { fieldManager: endpointManager, subresource: 'status' };
      remember(await client.mergePatch(HostedControlPlane, { namespace, name }, { status: { hosts } }, written));
    },
    async publishEndpoint(endpoint: Endpoint) {
      const { apiVersion, kind } = HostedControlPlane;
      const patch = { apiVersion, kind, metadata: { namespace, name }, spec: { controlPlaneEndpoint: endpoint } };
      remember(await client.apply(patch, { fieldManager: endpointManager, force: true }));
    },
    async publishToInfrastructure(endpoint: Endpoint) {
      if (!reference) return undefined;
      const shared = requestCaches.of(allControlPlanes);
      const found = await requestCaches
        .of(key)
        .ask('infrastructure', [reference, endpoint], () =>
          publishToInfrastructure({ client, requestCaches: shared, namespace, reference }, endpoint),
        );
      return found?.endpoint;
    },
  };
}

async function createOnce<T extends KubeObject>(
  client: Pick<KubernetesApi, 'create' | 'get'>,
  namespace: string,
  object: RenderedObject,
): Promise<{ readonly live: T; readonly isNew: boolean }> {
  const resource = resourceOf(object);
  if (!createdOnce.includes(resource)) {
    throw new Error(`the operator may not read an existing ${object.kind}: add the kind to createdOnce`);
  }
  try {
    const live: KubeObject = await client.create(object, { fieldManager });
    return { live: live as T, isNew: true };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return { live: await client.get<T>(resource, { namespace, name: object.metadata.name }), isNew: false };
  }
}

interface FinalizerChange {
  readonly object: KubeObject;
  readonly finalizers: readonly string[];
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/** Undefined if it is gone. @throws if it has changed since it was read */
async function setFinalizers(
  client: Pick<KubernetesApi, 'mergePatch'>,
  namespace: string,
  resource: Resource,
  { object: { metadata }, finalizers, annotations }: FinalizerChange,
): Promise<KubeObject | undefined> {
  const { name, uid, resourceVersion } = metadata;
  const patch = { metadata: { ...definedOnly({ uid, annotations }), finalizers } };
  try {
    return await client.mergePatch(resource, { namespace, name }, patch, {
      fieldManager,
      ...definedOnly({ resourceVersion }),
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

export interface DeletionWriterOptions {
  readonly client: Pick<KubernetesApi, 'create' | 'delete' | 'get' | 'list' | 'mergePatch'>;
  readonly namespace: string;
  readonly cluster: string;
  /** Then Cluster API has deleted the workers, or cannot delete them any more. */
  readonly clusterIsGone: boolean;
}

export function createDeletionWriter({
  client,
  namespace,
  cluster,
  clusterIsGone,
}: DeletionWriterOptions): DeletionWriter {
  return {
    delete: (resource, { metadata }) =>
      client.delete(
        resource,
        { namespace, name: metadata.name },
        { propagationPolicy: 'Background', ...(metadata.uid ? { uid: metadata.uid } : {}) },
      ),
    createOnce: async <T extends KubeObject>(object: RenderedObject) =>
      (await createOnce<T>(client, namespace, object)).live,
    async setFinalizers(resource, object, finalizers, annotations) {
      await setFinalizers(client, namespace, resource, { object, finalizers, annotations });
    },
    async keep(resource, { metadata }, uid) {
      const ownerReferences = metadata.ownerReferences?.filter((owner) => owner.uid !== uid) ?? [];
      const { name, resourceVersion } = metadata;
      const options = { fieldManager, ...(resourceVersion ? { resourceVersion } : {}) };
      const annotations = { [keptAnnotation]: 'true' };
      const finalizers = metadata.finalizers?.filter((one) => one !== keyFinalizer) ?? [];
      const patch = { metadata: { ownerReferences, finalizers, annotations } };
      await client.mergePatch(resource, { namespace, name }, patch, options);
    },
    async workers() {
      if (clusterIsGone) return 0;
      const selection = { namespace, labelSelector: `${clusterNameLabel}=${cluster}` };
      const counts = await Promise.all(
        workerKinds.map((resource) => client.list(resource, selection).then(({ items }) => items.length, none)),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Those without replicas count too: they may create Machines at any time. */
const workerKinds: readonly Resource[] = [Machine, MachineSet, MachineDeployment, MachinePool];

/** A kind that is not installed has no objects. */
function none(error: unknown): number {
  if (isNotFound(error)) return 0;
  throw error;
}
