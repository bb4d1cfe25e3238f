import type { PodObject } from '../../imports/kubernetes.ts';
import { createHash } from 'node:crypto';
import { Pod } from '../../constructs/api/resources.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { probedAnnotation } from '../../constructs/control-plane/etcd/probe.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { etcdProbePod } from '../../constructs/cluster/names.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { isForbidden } from '../kube/errors.ts';
import type { Reader, Writer } from '../clusters/management/view.ts';
import { oneLine } from '../kube/termination-message.ts';

/** A probe pod, as the scheduler has decided about it. */
export interface Probe {
  /** Digest of the template that it tries. */
  readonly template: string;
  readonly state: 'waiting' | 'scheduled' | 'refused';
  /** What the scheduler says if it has refused it. */
  readonly words: string;
}

export interface ProbeInput {
  /** Digest of the template that is to be tried. */
  readonly template: string;
  /** The probe on the node of the pod that runs, where only what is needed in addition has to fit. */
  readonly here: Probe | undefined;
  /** The probe on any node. */
  readonly anywhere: Probe | undefined;
}

export type ProbeDecision =
  /** These are of another template. */
  | { readonly kind: 'remove' }
  | { readonly kind: 'create'; readonly where: 'here' | 'anywhere' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly words: string };

/**
 * The next step to find out whether a pod would find a node. Both probes stay while they are refused: the scheduler tries them
 * again when nodes change.
 */
export function planProbe({ template, here, anywhere }: ProbeInput): ProbeDecision {
  if ([here, anywhere].some((probe) => probe && probe.template !== template)) return { kind: 'remove' };
  if (here?.state === 'scheduled' || anywhere?.state === 'scheduled') return { kind: 'passed' };
  if (!here) return { kind: 'create', where: 'here' };
  if (here.state === 'waiting') return { kind: 'wait' };
  if (!anywhere) return { kind: 'create', where: 'anywhere' };
  return anywhere.state === 'waiting' ? { kind: 'wait' } : { kind: 'refused', words: anywhere.words };
}

/** Where a probe is tried. */
export interface ProbeContext {
  readonly cluster: HostedCluster;
  readonly facts: Facts;
  readonly reader: Reader;
  readonly writer: Writer;
}

/**
 * Takes the next step to find out whether a pod would find a node in the place of one that runs. Kubernetes has no dry run of
 * scheduling, so that probe pods are created, which never start anything.
 * @param runs the pod in whose place the other one would be
 * @param spec of the other one
 * @returns undefined if the pod would find a node, or no probe can show it
 */
export async function probePlacement(
  context: ProbeContext,
  runs: PodObject,
  spec: object,
): Promise<Extract<ProbeDecision, { readonly kind: 'wait' | 'refused' }> | undefined> {
  const { cluster, facts, reader, writer } = context;
  const node = runs.spec?.nodeName;
  if (node === undefined) return undefined;
  const template = createHash('sha256').update(JSON.stringify(spec)).digest('hex').slice(0, 16);
  const of = (where: 'here' | 'anywhere') =>
    probeOf(reader.get<PodObject>(Pod, etcdProbePod(runs.metadata.name, where)));
  const decision = planProbe({ template, here: of('here'), anywhere: of('anywhere') });
  switch (decision.kind) {
    case 'remove':
      await removeProbes(context);
      return { kind: 'wait' };
    case 'create': {
      const {
        metadata: { name: member },
        spec: present = {},
      } = runs;
      const etcdProbe = { where: decision.where, member, node, template, spec, runs: present };
      const [pod] = renderControlPlane(cluster, { ...facts, etcdProbe }, 'etcd-probe');
      try {
        if (pod) await writer.createOnce(pod);
      } catch (error) {
        // The pod itself is admitted. Beside the one that runs there may be no room for a probe in a quota, which then says nothing.
        if (isForbidden(error)) return undefined;
        throw error;
      }
      return { kind: 'wait' };
    }
    case 'passed':
      return undefined;
    case 'wait':
    case 'refused':
      return decision;
  }
}

/** Deletes all probes, which hold what they request until then. */
export async function removeProbes({ cluster, reader, writer }: Omit<ProbeContext, 'facts'>): Promise<void> {
  for (const pod of reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'etcd-probe')))
    if (!pod.metadata.deletionTimestamp) await writer.delete(Pod, pod);
}

function probeOf(pod: PodObject | undefined): Probe | undefined {
  if (!pod) return undefined;
  const template = pod.metadata.deletionTimestamp ? '' : (pod.metadata.annotations?.[probedAnnotation] ?? '');
  const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  const state = scheduled ? (scheduled.status === 'True' ? 'scheduled' : 'refused') : 'waiting';
  return { template, state, words: oneLine(scheduled?.message ?? '') };
}
