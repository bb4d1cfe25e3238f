import type { k8s } from 'cdk8s-plus-30';
import { nodeTopology, type Overlay } from '../api/overlay-spec.ts';
import { definedOnly } from '../cluster/defined.ts';

/** A pod, or the template of pods. */
interface PodLike {
  readonly metadata?: k8s.ObjectMeta;
  readonly spec?: k8s.PodSpec;
}

/** Additions of a user; a daemon has no fields for what a scheduler decides. */
export type Additions = Partial<Overlay>;

export interface OverlayOptions {
  /** Whether pods stay on different nodes, whatever the user prefers. @default false */
  readonly keepsNodes?: boolean;
  /** Whether containers get the variables of the user. @default true */
  readonly takesVariables?: boolean;
}

/**
 * A pod with the additions of the user, the least specific ones first. Entries of maps and lists add up; among those with
 * the same key the most specific one wins. Labels, annotations and variables of the operator always win, because it finds
 * pods by them.
 */
export function withAdditions<P extends PodLike>(
  pod: P,
  additions: readonly (Additions | undefined)[],
  { keepsNodes = false, takesVariables = true }: OverlayOptions = {},
): P {
  const all = additions.filter((one) => one !== undefined);
  const { metadata, spec } = pod;
  const [main, ...others] = spec?.containers ?? [];
  const labels = { ...Object.assign({}, ...all.map((one) => one.labels)), ...metadata?.labels };
  const annotations = { ...Object.assign({}, ...all.map((one) => one.annotations)), ...metadata?.annotations };
  const nodeSelector = Object.assign({}, spec?.nodeSelector, ...all.map((one) => one.nodeSelector));
  const affinity = Object.assign({}, spec?.affinity, ...all.map((one) => one.affinity));
  const priorityClassName = all.findLast((one) => one.priorityClassName)?.priorityClassName ?? spec?.priorityClassName;
  const imagePullSecrets = byKey(
    [...(spec?.imagePullSecrets ?? []), ...all.flatMap((one) => one.imagePullSecrets ?? [])],
    ({ name = '' }) => name,
  );
  const tolerations = byKey(
    [...(spec?.tolerations ?? []), ...all.flatMap((one) => (one.tolerations ?? []).map(definedOnly))],
    ({ key, operator = 'Equal', value, effect }) => JSON.stringify([key, operator, value, effect]),
  );
  const users = takesVariables ? all.flatMap((one) => one.env ?? []) : [];
  const ours = main?.env ?? [];
  const isOurs = (variable: string) => ours.some(({ name }) => name === variable);
  const env = [...ours, ...byKey(users, ({ name }) => name).filter(({ name }) => !isOurs(name))];
  return {
    ...pod,
    metadata: { ...metadata, ...unlessEmpty({ labels, annotations }) },
    spec: {
      ...spec,
      ...unlessEmpty({ nodeSelector, affinity, imagePullSecrets, tolerations }),
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
      ...spreadOf(spec, all, keepsNodes),
      containers: main ? [{ ...main, ...unlessEmpty({ env }) }, ...others] : [],
    },
  };
}

/** The user's constraints count the same pods as those of the operator. */
function spreadOf(
  spec: k8s.PodSpec | undefined,
  additions: readonly Additions[],
  keepsNodes: boolean,
): Pick<k8s.PodSpec, 'topologySpreadConstraints'> {
  const ours = spec?.topologySpreadConstraints;
  const [first] = ours ?? [];
  if (!ours || !first) return {};
  const { labelSelector, matchLabelKeys, nodeAffinityPolicy, nodeTaintsPolicy } = first;
  const counted = {
    nodeAffinityPolicy,
    nodeTaintsPolicy,
    labelSelector,
    ...(matchLabelKeys ? { matchLabelKeys } : {}),
  };
  const theirs = additions
    .flatMap((one) => one.topologySpreadConstraints ?? [])
    .filter(({ topologyKey }) => !(keepsNodes && topologyKey === nodeTopology))
    .map((one) => ({ ...counted, ...one }) as k8s.TopologySpreadConstraint);
  return { topologySpreadConstraints: byKey([...ours, ...theirs], ({ topologyKey }) => topologyKey) };
}

/** The last entry with each key, at the place of the first one. */
function byKey<T>(entries: readonly T[], keyOf: (entry: T) => string): T[] {
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}

function unlessEmpty<T extends object>(parts: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(parts).filter(([, part]: [string, object]) => Object.keys(part).length > 0),
  ) as Partial<T>;
}
