import type { PodObject } from '../../imports/kubernetes.ts';
import { isDeepStrictEqual } from 'node:util';
import { Pod, StatefulSet } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { type Workload, workloadPod } from '../../constructs/pod/workload-pod.ts';
import type { StepNeeds } from '../clusters/dry-run/try-step.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Rendered } from '../kube/rendering.ts';
import type { Reader, Writer } from '../clusters/management/view.ts';
import { ordinalOf } from './member-objects.ts';
import { type ProbeContext, probePlacement } from './placement-probe.ts';

type Set = Workload & KubeObject & { readonly spec?: { readonly replicas?: number } };

/** Why the members keep their template. */
interface HeldTemplate {
  readonly reason: 'RollingOut' | 'RolloutRefused';
  readonly message: string;
}

/**
 * Whether members must keep their template, because no pod could follow one of the next template, or that is being tried. Sends no
 * request while the template stays, and none while no member has a pod to lose.
 */
export async function heldTemplate(
  context: ProbeContext,
  rendered: Rendered<RenderedObject>,
): Promise<HeldTemplate | undefined> {
  const { cluster, reader, writer } = context;
  const live = reader.get<Set>(StatefulSet, namesOf(cluster.name).etcd);
  const members = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd'));
  const mayLose = live && live.spec?.replicas !== 0 && members.length > 0;
  const next = mayLose ? await writer.preview<Set>(rendered, StatefulSet) : undefined;
  if (!next || !live || isDeepStrictEqual(next.spec?.template, live.spec?.template)) return undefined;
  const refusal = await writer.dryRun(needsToReplaceMember(context, next));
  if (refusal !== undefined) return held(refusal);
  if (isDeepStrictEqual(placementOf(next), placementOf(live))) return undefined;
  let isTried = false;
  for (const member of members) {
    const { name } = member.metadata;
    const unplaced = await probePlacement(context, member, workloadPod(next, ordinalOf(name))?.['spec'] as object);
    if (unplaced?.kind === 'refused') {
      const advice = 'correct nodeSelector, affinity, tolerations or resources, or add a node';
      return held(`the pod ${name} would find no node: ${unplaced.words}: ${advice}`);
    }
    isTried ||= unplaced !== undefined;
  }
  return isTried
    ? { reason: 'RollingOut', message: 'etcd: probe pods show whether the next pods find nodes' }
    : undefined;
}

function held(refusal: string): HeldTemplate {
  return { reason: 'RolloutRefused', message: `etcd: the members keep their pods and template: ${refusal}` };
}

/** The fields of a template on which its node depends. */
function placementOf({ spec }: Set): unknown {
  const pod = (spec?.template?.spec ?? {}) as Readonly<Record<string, unknown>>;
  const fields = ['nodeSelector', 'affinity', 'tolerations', 'topologySpreadConstraints', 'priorityClassName'];
  const containers = (pod['containers'] ?? []) as readonly { readonly resources?: { readonly requests?: object } }[];
  return [fields.map((field) => pod[field]), containers.map(({ resources }) => resources?.requests)];
}

interface Context {
  readonly cluster: { readonly name: string };
  readonly reader: Reader;
  readonly writer: Writer;
}

/** Why no pod could follow one that is deleted now, by the template that the members have. */
export async function refusalOfReplacement(context: Context): Promise<string | undefined> {
  const live = context.reader.get<Set>(StatefulSet, namesOf(context.cluster.name).etcd);
  return live && context.writer.dryRun(needsToReplaceMember(context, live));
}

/** What the replacement of one member of etcd needs: a pod by the template of this StatefulSet. */
function needsToReplaceMember({ cluster: { name }, reader }: Omit<Context, 'writer'>, set: Workload): StepNeeds {
  const pod = workloadPod(set);
  return {
    step: 'rollout',
    creates: pod ? [pod] : [],
    changes: [Pod],
    ends: reader.list<PodObject>(Pod, selectorLabels(name, 'etcd')).slice(0, 1),
  };
}
