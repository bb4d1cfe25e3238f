import type { k8s } from 'cdk8s-plus-30';
import { nodeTopology } from '../api/overlay-spec.ts';
import { withExceptions } from './no-proxy.ts';
import { type Additions, byKey, combined, tolerationKey, unlessEmpty } from './additions.ts';

/** A pod, or the template of pods. */
interface PodLike {
  readonly metadata?: k8s.ObjectMeta;
  readonly spec?: k8s.PodSpec;
}

export interface OverlayOptions {
  /** Whether pods stay on different nodes, whatever the user prefers. @default false */
  readonly keepsNodes?: boolean;
  /** Whether containers get the variables of the user. @default true */
  readonly takesVariables?: boolean;
  /** What containers reach without a proxy, if variables of the user name one: {@link insideOf}. @default nothing */
  readonly inside?: readonly string[];
}

/**
 * A pod with the additions of the user, the least specific ones first. Labels, annotations and variables of the operator always
 * win, because it finds pods by them; of everything else, that of the user does.
 */
export function withAdditions<P extends PodLike>(
  pod: P,
  additions: readonly (Additions | undefined)[],
  { keepsNodes = false, takesVariables = true, inside = [] }: OverlayOptions = {},
): P {
  const added = combined(additions);
  const { metadata, spec } = pod;
  const [main, ...others] = spec?.containers ?? [];
  const labels = { ...added.labels, ...metadata?.labels };
  const annotations = { ...added.annotations, ...metadata?.annotations };
  const nodeSelector = { ...spec?.nodeSelector, ...added.nodeSelector };
  const affinity = { ...spec?.affinity, ...added.affinity } as k8s.Affinity;
  const priorityClassName = added.priorityClassName ?? spec?.priorityClassName;
  const imagePullSecrets = byKey(
    [...(spec?.imagePullSecrets ?? []), ...(added.imagePullSecrets ?? [])],
    ({ name = '' }) => name,
  );
  const tolerations = byKey([...(spec?.tolerations ?? []), ...(added.tolerations ?? [])], tolerationKey);
  const own = main?.env ?? [];
  const isOwn = (variable: string) => own.some(({ name }) => name === variable);
  const theirs = (takesVariables ? (added.env ?? []) : []).filter(({ name }) => !isOwn(name));
  const env = [...own, ...withExceptions(theirs, inside)];
  return {
    ...pod,
    metadata: { ...metadata, ...unlessEmpty({ labels, annotations }) },
    spec: {
      ...spec,
      ...unlessEmpty({ nodeSelector, affinity, imagePullSecrets, tolerations }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      ...spreadOf(spec, added, keepsNodes),
      containers: main ? [{ ...main, ...unlessEmpty({ env }) }, ...others] : [],
    },
  };
}

/** The user's constraints count the same pods as those of the operator. */
function spreadOf(
  spec: k8s.PodSpec | undefined,
  { topologySpreadConstraints: asked = [] }: Additions,
  keepsNodes: boolean,
): Pick<k8s.PodSpec, 'topologySpreadConstraints'> {
  const own = spec?.topologySpreadConstraints;
  const [first] = own ?? [];
  if (!own || !first) return {};
  const { labelSelector, matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy } = first;
  const counted = {
    nodeAffinityPolicy,
    nodeTaintsPolicy,
    labelSelector,
    ...(matchLabelKeys ? { matchLabelKeys } : {}),
  };
  const theirs = asked
    .filter(({ topologyKey }) => !(keepsNodes && topologyKey === nodeTopology))
    .map((one) => ({ ...counted, ...one }) as k8s.TopologySpreadConstraint);
  return { topologySpreadConstraints: byKey([...own, ...theirs], ({ topologyKey }) => topologyKey) };
}
