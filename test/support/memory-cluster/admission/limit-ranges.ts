import { isMore } from '../../../../constructs/api/quantity.ts';
import { PersistentVolumeClaim, Pod, type Resource } from '../../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import type { AnyFields } from '../api-server.ts';
import type { AdmissionRequest } from './admission.ts';
import {
  amountsOf,
  type Container,
  containersIn,
  type PodSpec,
  type Quantities,
  quantityOf,
  resourcesOf,
} from './pod-resources.ts';

/** The operator neither reads nor writes these. */
export const LimitRange: Resource = { apiVersion: 'v1', kind: 'LimitRange', plural: 'limitranges', namespaced: true };

interface Limit {
  readonly type: 'Container' | 'Pod' | 'PersistentVolumeClaim';
  readonly max?: Quantities;
  readonly default?: Quantities;
  readonly defaultRequest?: Quantities;
}

interface LimitRangeObject extends KubeObject {
  readonly spec: { readonly limits: readonly Limit[] };
}

/** Gives containers the default resources of a namespace, and refuses pods and volume claims above its maxima. */
export function limitRanges({ resource, object, stored, subresource, store, forbidden }: AdmissionRequest): AnyFields {
  const isPod = resource.kind === Pod.kind && !stored;
  const isClaim = resource.kind === PersistentVolumeClaim.kind && !stored?.metadata.deletionTimestamp;
  if (subresource !== undefined || !(isPod || isClaim)) return object;
  const limits = store
    .list(LimitRange)
    .filter(({ metadata }) => metadata.namespace === object.metadata.namespace)
    .flatMap((range) => (range as LimitRangeObject).spec.limits);
  const admitted = isPod ? limits.reduce(withDefaults, object) : object;
  const broken = limits.flatMap((limit) => (isPod ? brokenByPod(admitted, limit) : brokenByClaim(admitted, limit)));
  if (broken.length > 0) throw forbidden(broken.length === 1 ? String(broken[0]) : `[${broken.join(', ')}]`);
  return admitted;
}

function withDefaults(pod: AnyFields, limit: Limit): AnyFields {
  if (limit.type !== 'Container') return pod;
  // As the API server completes a LimitRange: a maximum is the default of a limit, which is that of a request.
  const limits = { ...limit.max, ...limit.default };
  const requests = { ...limits, ...limit.defaultRequest };
  const filled = (container: Container): Container => {
    const own = resourcesOf(container);
    return {
      ...container,
      resources: { limits: { ...limits, ...own.limits }, requests: { ...requests, ...own.requests } },
    };
  };
  const spec = pod['spec'] as PodSpec;
  const initContainers = spec.initContainers ? { initContainers: spec.initContainers.map(filled) } : {};
  return { ...pod, spec: { ...spec, containers: spec.containers.map(filled), ...initContainers } };
}

function brokenByPod(pod: AnyFields, { type, max = {} }: Limit): string[] {
  const spec = pod['spec'] as PodSpec;
  if (type === 'Container')
    return containersIn(spec).flatMap((container) =>
      above(max, resourcesOf(container).limits, { type, what: 'limit' }),
    );
  if (type !== 'Pod') return [];
  const amounts = Object.entries(amountsOf(spec, 'limits'));
  const limits = Object.fromEntries(amounts.map(([resource, amount]) => [resource, quantityOf(amount)]));
  return above(max, limits, { type, what: 'limit' });
}

function brokenByClaim(claim: AnyFields, { type, max = {} }: Limit): string[] {
  if (type !== 'PersistentVolumeClaim') return [];
  const { resources = {} } = claim['spec'] as { resources?: { requests?: Quantities } };
  return above(max, resources.requests ?? {}, { type, what: 'request' });
}

function above(max: Quantities, given: Quantities, { type, what }: { type: string; what: string }): string[] {
  return Object.entries(max).flatMap(([resource, enforced]) => {
    const quantity = given[resource];
    const rule = `maximum ${resource} usage per ${type} is ${enforced}`;
    if (quantity === undefined) return [`${rule}.  No ${what} is specified`];
    return isMore(quantity, enforced) ? [`${rule}, but ${what} is ${quantity}`] : [];
  });
}
