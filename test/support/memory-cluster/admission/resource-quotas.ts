import { quantityValue } from '../../../../constructs/api/quantity.ts';
import { PersistentVolumeClaim, Pod, ResourceQuota } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import type { AnyFields } from '../api-server.ts';
import type { Store } from '../store.ts';
import type { AdmissionRequest } from './admission.ts';
import {
  type Amounts,
  amountsOf,
  containersIn,
  type PodSpec,
  type Quantities,
  quantityOf,
  resourcesOf,
  sum,
} from './pod-resources.ts';

/** A ResourceQuota without scopes. */
export interface QuotaObject extends KubeObject {
  readonly spec: { readonly hard: Quantities };
}

/** The quotas of a namespace. */
export function quotasIn(store: Store, namespace: string | undefined): QuotaObject[] {
  return (store.list(ResourceQuota) as QuotaObject[]).filter(({ metadata }) => metadata.namespace === namespace);
}

/** Refuses pods without resources that a quota counts, and pods and volume claims that exceed it. */
export function resourceQuotas({
  resource,
  object,
  stored,
  subresource,
  store,
  forbidden,
}: AdmissionRequest): AnyFields {
  const isCounted = (resource.kind === Pod.kind && !stored) || resource.kind === PersistentVolumeClaim.kind;
  if (subresource !== undefined || !isCounted) return object;
  for (const { metadata, spec } of quotasIn(store, object.metadata.namespace)) {
    const { name } = metadata;
    const missing = resource.kind === Pod.kind ? missingIn(object['spec'] as PodSpec, Object.keys(spec.hard)) : [];
    if (missing.length > 0) throw forbidden(`failed quota: ${name}: must specify ${missing.join('; ')}`);
    const requested = counted(difference(usageOf(object), stored ? usageOf(stored) : {}), spec.hard);
    const used = usageIn(store, object.metadata.namespace);
    const exceeded = Object.keys(requested)
      .filter((one) => (requested[one] ?? 0) + (used[one] ?? 0) > quantityValue(spec.hard[one] ?? '0'))
      .sort();
    if (exceeded.length === 0) continue;
    const listed = (amounts: Amounts) => exceeded.map((one) => `${one}=${quantityOf(amounts[one] ?? 0)}`).join();
    const limited = exceeded.map((one) => `${one}=${spec.hard[one]}`).join();
    throw forbidden(
      `exceeded quota: ${name}, requested: ${listed(requested)}, used: ${listed(used)}, limited: ${limited}`,
    );
  }
  return object;
}

/** What a quota uses of each resource that it limits. */
export function usedOf(store: Store, { metadata, spec }: QuotaObject): Quantities {
  const used = usageIn(store, metadata.namespace);
  return Object.fromEntries(Object.keys(spec.hard).map((name) => [name, quantityOf(used[name] ?? 0)]));
}

/** As the API server names a resource of a container that every container must specify, if a quota counts it. */
const demanded = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory'];

function missingIn(pod: PodSpec, hard: readonly string[]): string[] {
  return demanded
    .filter((name) => hard.includes(name))
    .flatMap((name) => {
      const [resource = '', kind = 'requests'] = name.split('.').toReversed();
      const lacks = containersIn(pod).filter(
        (container) => resourcesOf(container)[kind as 'requests' | 'limits'][resource] === undefined,
      );
      return lacks.length === 0
        ? []
        : [
            `${name} for: ${lacks
              .map((one) => one.name)
              .sort()
              .join()}`,
          ];
    });
}

function usageIn(store: Store, namespace: string | undefined): Amounts {
  return [Pod, PersistentVolumeClaim]
    .flatMap((resource) => store.list(resource))
    .filter(({ metadata }) => metadata.namespace === namespace)
    .map((object) => usageOf(object as AnyFields))
    .reduce(sum, {});
}

/** What an object uses, by all names of quotas. Pods that have ended use nothing. */
function usageOf(object: AnyFields): Amounts {
  if (object.kind === PersistentVolumeClaim.kind) {
    const { resources = {} } = object['spec'] as { resources?: { requests?: Quantities } };
    const storage = quantityValue(resources.requests?.['storage'] ?? '0');
    return { persistentvolumeclaims: 1, 'requests.storage': storage };
  }
  const { phase } = (object['status'] ?? {}) as { phase?: string };
  if (phase === 'Failed' || phase === 'Succeeded') return {};
  const spec = object['spec'] as PodSpec;
  const requests = Object.entries(amountsOf(spec, 'requests'));
  const limits = Object.entries(amountsOf(spec, 'limits'));
  return {
    pods: 1,
    ...Object.fromEntries(
      requests.flatMap(([name, amount]) => [[name, amount] as const, [`requests.${name}`, amount]]),
    ),
    ...Object.fromEntries(limits.map(([name, amount]) => [`limits.${name}`, amount])),
  };
}

function difference(one: Amounts, other: Amounts): Amounts {
  return Object.fromEntries(Object.entries(one).map(([name, amount]) => [name, amount - (other[name] ?? 0)]));
}

/** Resources that a quota limits, and of which more is requested. */
function counted(amounts: Amounts, hard: Quantities): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([name, amount]) => hard[name] !== undefined && amount > 0));
}
