import { isDeepStrictEqual } from 'node:util';
import { Pod, StatefulSet } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { Workload } from '../../constructs/pod/workload-pod.ts';
import { needsToReplaceMember } from '../dry-run/needs.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Reader, Writer } from '../management/view.ts';

interface Context {
  readonly cluster: { readonly name: string };
  readonly reader: Reader;
  readonly writer: Writer;
}

type Set = Workload & KubeObject & { readonly spec?: { readonly replicas?: number } };

/**
 * Why no pod could follow one of another template, if the template of these objects is another one than that of the members.
 * Sends no request while the template stays, and none while no member has a pod to lose.
 * @returns one sentence; undefined if nothing is refused
 */
export async function refusalOfTemplate(
  context: Context,
  rendered: readonly RenderedObject[],
): Promise<string | undefined> {
  const { cluster, reader, writer } = context;
  const wanted = rendered.find(({ kind }) => kind === StatefulSet.kind);
  const live = reader.get<Set>(StatefulSet, namesOf(cluster.name).etcd);
  if (!wanted || !live || live.spec?.replicas === 0) return undefined;
  if (reader.list(Pod, selectorLabels(cluster.name, 'etcd')).length === 0) return undefined;
  const next = await writer.preview<Set>(wanted);
  if (!next || isDeepStrictEqual(next.spec?.template, live.spec?.template)) return undefined;
  return writer.dryRun(needsToReplaceMember(context, next));
}

/** Why no pod could follow one that is deleted now, by the template that the members have. */
export async function refusalOfReplacement(context: Context): Promise<string | undefined> {
  const live = context.reader.get<Set>(StatefulSet, namesOf(context.cluster.name).etcd);
  return live && context.writer.dryRun(needsToReplaceMember(context, live));
}
