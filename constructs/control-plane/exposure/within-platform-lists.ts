import type { IngressExposure, LoadBalancerExposure } from '../../api/exposure-spec.ts';
import type { FieldRefusal, HostedCluster } from '../../cluster/cluster.ts';
import { admits, classAnnotation, passthroughKeys, type PlatformLists } from '../../cluster/platform-lists.ts';

/** What the live objects of an exposure strategy have. */
export interface LiveExposure {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  readonly className?: string | undefined;
}

/** Settings of the operator, in the order of {@link PlatformLists}. */
export const platformListSettings: Readonly<Record<keyof PlatformLists, string>> = {
  ingressAnnotations: 'INGRESS_ANNOTATIONS',
  loadBalancerAnnotations: 'LOAD_BALANCER_ANNOTATIONS',
  ingressClasses: 'INGRESS_CLASSES',
  loadBalancerClasses: 'LOAD_BALANCER_CLASSES',
};

/**
 * The cluster with the annotations and the class of its exposure strategy that the platform allows, and with a sentence for each
 * that it does not allow. Live ones stay: a control plane keeps its endpoint when the platform's list changes.
 */
export function withinPlatformLists(
  cluster: HostedCluster,
  lists: PlatformLists,
  live: LiveExposure = {},
): HostedCluster {
  const { exposure } = cluster.spec;
  const { ingress, loadBalancer } = exposure ?? {};
  if (ingress) {
    const { value, refused } = ingressWithin(ingress, lists, live);
    return refused.length === 0 ? cluster : changed(cluster, { ...exposure, ingress: value }, refused);
  }
  if (loadBalancer) {
    const { value, refused } = loadBalancerWithin(loadBalancer, lists, live);
    return refused.length === 0 ? cluster : changed(cluster, { ...exposure, loadBalancer: value }, refused);
  }
  return cluster;
}

function changed(
  cluster: HostedCluster,
  exposure: HostedCluster['spec']['exposure'],
  refusals: readonly FieldRefusal[],
): HostedCluster {
  return { ...cluster, spec: { ...cluster.spec, exposure }, refusals };
}

interface Within<T, Refused = string> {
  readonly value: T;
  readonly refused: readonly Refused[];
}

function ingressWithin(
  given: IngressExposure,
  lists: PlatformLists,
  live: LiveExposure,
): Within<IngressExposure, FieldRefusal> {
  const mayHave = (key: string, value: string) =>
    key === classAnnotation
      ? admits(lists.ingressClasses, value)
      : passthroughKeys.includes(key) || admits(lists.ingressAnnotations, key);
  const annotations = annotationsWithin(given.annotations, mayHave, live);
  const className = classWithin(given.className, lists.ingressClasses, live);
  return {
    value: { ...given, annotations: annotations.value, className: className.value },
    refused: [
      ...annotations.refused.map((keys) =>
        keys === classAnnotation
          ? refusal('ingress.annotations', `the class in ${keys}`, 'ingressClasses')
          : refusal('ingress.annotations', keys, 'ingressAnnotations'),
      ),
      ...className.refused.map((name) => refusal('ingress.className', name, 'ingressClasses')),
    ],
  };
}

function loadBalancerWithin(
  given: LoadBalancerExposure,
  lists: PlatformLists,
  live: LiveExposure,
): Within<LoadBalancerExposure, FieldRefusal> {
  const mayHave = (key: string) => admits(lists.loadBalancerAnnotations, key);
  const annotations = annotationsWithin(given.annotations, mayHave, live);
  const className = classWithin(given.loadBalancerClass, lists.loadBalancerClasses, live);
  return {
    value: { ...given, annotations: annotations.value, loadBalancerClass: className.value },
    refused: [
      ...annotations.refused.map((key) => refusal('loadBalancer.annotations', key, 'loadBalancerAnnotations')),
      ...className.refused.map((name) => refusal('loadBalancer.loadBalancerClass', name, 'loadBalancerClasses')),
    ],
  };
}

function annotationsWithin(
  given: Readonly<Record<string, string>> | undefined,
  mayHave: (key: string, value: string) => boolean,
  { annotations: live = {} }: LiveExposure,
): Within<Record<string, string> | undefined> {
  if (given === undefined) return { value: undefined, refused: [] };
  const refused = Object.entries(given).flatMap(([key, value]) => (mayHave(key, value) ? [] : [key]));
  const kept = Object.entries(given).flatMap(([key, value]): [string, string][] => {
    if (!refused.includes(key)) return [[key, value]];
    const before = live[key];
    return before === undefined ? [] : [[key, before]];
  });
  return { value: Object.fromEntries(kept), refused };
}

function classWithin(
  given: string | undefined,
  list: readonly string[],
  live: LiveExposure,
): Within<string | undefined> {
  const isRefused = given !== undefined && !admits(list, given);
  return isRefused ? { value: live.className, refused: [given] } : { value: given, refused: [] };
}

function refusal(field: string, what: string, list: keyof PlatformLists): FieldRefusal {
  const because = `the platform does not allow ${what}, which has no effect unless it was there before: remove it, or let the platform add it to ${platformListSettings[list]} of the operator`;
  return { field: `exposure.${field}`, because };
}
