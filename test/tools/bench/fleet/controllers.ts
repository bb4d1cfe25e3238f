import { createHash } from 'node:crypto';
import {
  Deployment,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Service,
  StatefulSet,
} from '../../../../constructs/api/resources.ts';
import { componentLabel } from '../../../../constructs/cluster/labels.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import { systemClock } from '../../../../reconciler/kube/clock.ts';
import { isConflict, isNotFound } from '../../../../reconciler/kube/errors.ts';
import { Informer } from '../../../../reconciler/kube/informer.ts';
import { type KubeObject, objectKey, objectName } from '../../../../reconciler/kube/object.ts';
import { WorkQueue } from '../../../../reconciler/kube/queue.ts';

interface Workload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: Pick<KubeObject['metadata'], 'labels' | 'annotations'>;
      readonly spec: {
        readonly containers: readonly { readonly name: string; readonly image: string }[];
        readonly volumes?: readonly object[];
      };
    };
    readonly volumeClaimTemplates?: readonly (KubeObject & { readonly spec: ClaimSpec })[];
  };
}

interface ClaimSpec {
  readonly resources: { readonly requests: { readonly storage: string } };
}

const manager = { fieldManager: 'controllers' };
const revisionLabel = 'controller-revision-hash';
const workloads: Readonly<Record<string, Resource>> = { Deployment, StatefulSet };

/** Gives out addresses of this machine. */
export interface Addresses {
  /** @param owner what listens there: a pod, or the Service of an API server */
  take(owner: KubeObject): string;
}

/**
 * What Kubernetes' own controllers and kubelets do with the objects of control planes, without starting any process: every pod
 * runs and is ready as soon as it exists, every volume is bound, every load balancer has an address.
 */
export class Controllers {
  readonly #client: KubeClient;
  readonly #addresses: Addresses;
  readonly #informers: readonly Informer[];
  readonly #pods: Informer;
  readonly #queue = new WorkQueue({
    process: (key) => this.#process(key),
    concurrency: 16,
    clock: systemClock,
    onError: (key, error) => {
      if (!isConflict(error) && !isNotFound(error)) console.error(`simulated controllers: ${key}: ${String(error)}`);
    },
  });

  constructor(client: KubeClient, addresses: Addresses) {
    this.#client = client;
    this.#addresses = addresses;
    const informer = (resource: Resource): Informer =>
      new Informer({ client, clock: systemClock, resource, labelSelector: componentLabel });
    this.#pods = informer(Pod);
    this.#informers = [...Object.values(workloads), Service].map(informer);
  }

  async start(): Promise<void> {
    this.#pods.onChange(({ type, object }) => {
      const owner = object.metadata.annotations?.[ownerAnnotation];
      if (type === 'deleted' && owner) this.#queue.add(owner);
    });
    this.#pods.start();
    await this.#pods.synced;
    for (const informer of this.#informers) {
      informer.onChange(({ type, object, old }) => {
        if (type !== 'deleted' && old?.metadata.generation !== object.metadata.generation) this.#enqueue(object);
        else if (type === 'added' || object.kind === Service.kind) this.#enqueue(object);
      });
      informer.start();
    }
  }

  /** How many pods a StatefulSet asks for. */
  sizeOf(namespace: string, name: string): number {
    const set = this.#informers.find(({ resource }) => resource === StatefulSet)?.get({ namespace, name });
    return (set as Workload | undefined)?.spec.replicas ?? 1;
  }

  #enqueue({ kind, metadata }: KubeObject): void {
    this.#queue.add(`${kind} ${objectKey(metadata)}`);
  }

  async #process(key: string): Promise<void> {
    const [kind = '', name = ''] = key.split(' ');
    const object = this.#informers.find(({ resource }) => resource.kind === kind)?.get(objectName(name));
    if (!object || object.metadata.deletionTimestamp) return;
    if (kind === Service.kind) await this.#balance(object);
    else await this.#rollOut(object as Workload, key);
  }

  async #balance(service: KubeObject & { spec?: { type?: string }; status?: { loadBalancer?: object } }) {
    if (service.spec?.type !== 'LoadBalancer' || Object.keys(service.status?.loadBalancer ?? {}).length > 0) return;
    const status = { loadBalancer: { ingress: [{ ip: this.#addresses.take(service) }] } };
    await this.#patchStatus(Service, service, status);
  }

  async #rollOut(workload: Workload, key: string): Promise<void> {
    const { metadata, spec, kind } = workload;
    const replicas = spec.replicas ?? 1;
    const isSet = kind === StatefulSet.kind;
    const revision = `${metadata.name}-${digest(spec.template)}`;
    const names = Array.from({ length: replicas }, (_, n) => `${isSet ? metadata.name : revision}-${n}`);
    await Promise.all(
      names.map(async (name) => {
        if (this.#pods.get({ name, namespace: metadata.namespace })) return;
        if (isSet) await this.#bind(workload, name);
        await this.#run(workload, { name, revision, owner: key });
      }),
    );
    const revisions = isSet ? { updateRevision: revision, currentRevision: revision } : {};
    const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
    await this.#patchStatus(workloads[kind] ?? Deployment, workload, {
      observedGeneration: metadata.generation ?? 0,
      ...counts,
      ...revisions,
    });
    const left = this.#pods
      .list()
      .filter((pod) => pod.metadata.annotations?.[ownerAnnotation] === key && !names.includes(pod.metadata.name));
    await Promise.all(left.map((pod) => this.#client.delete(Pod, pod.metadata, { gracePeriodSeconds: 0 })));
  }

  async #bind({ metadata: { namespace }, spec }: Workload, pod: string): Promise<void> {
    for (const { metadata, spec: claimSpec } of spec.volumeClaimTemplates ?? []) {
      const { labels } = spec.template.metadata;
      const claim = { namespace, name: `${metadata.name}-${pod}` };
      const { apiVersion, kind } = PersistentVolumeClaim;
      await this.#client
        .create({ apiVersion, kind, metadata: { ...claim, labels }, spec: claimSpec }, manager)
        .catch(unlessExists);
      const status = { phase: 'Bound', capacity: claimSpec.resources.requests };
      await this.#patchStatus(PersistentVolumeClaim, { apiVersion, kind, metadata: claim }, status);
    }
  }

  async #run(workload: Workload, { name, revision, owner }: { name: string; revision: string; owner: string }) {
    const { template, volumeClaimTemplates = [] } = workload.spec;
    const claims = volumeClaimTemplates.map(({ metadata }) => ({
      name: metadata.name,
      persistentVolumeClaim: { claimName: `${metadata.name}-${name}` },
    }));
    const { apiVersion, kind } = Pod;
    const pod = {
      apiVersion,
      kind,
      metadata: {
        name,
        namespace: workload.metadata.namespace,
        labels: { ...template.metadata.labels, [revisionLabel]: revision },
        annotations: { ...template.metadata.annotations, [ownerAnnotation]: owner },
      },
      spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] },
    };
    await this.#client.create(pod, manager).catch(unlessExists);
    const startedAt = new Date().toISOString();
    const podIP = this.#addresses.take(pod);
    const containerStatuses = template.spec.containers.map((container) => ({
      name: container.name,
      image: container.image,
      imageID: container.image,
      ready: true,
      restartCount: 0,
      state: { running: { startedAt } },
    }));
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: startedAt }];
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions, containerStatuses };
    await this.#patchStatus(Pod, pod, status);
  }

  async #patchStatus(resource: Resource, { metadata }: KubeObject, status: object): Promise<void> {
    await this.#client.mergePatch(resource, metadata, { status }, { ...manager, subresource: 'status' });
  }
}

/** Names the workload of a pod, as `Kind namespace/name`. */
const ownerAnnotation = 'fleet.test/workload';

function digest(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 10);
}

function unlessExists(error: unknown): undefined {
  if (!isConflict(error)) throw error;
}
