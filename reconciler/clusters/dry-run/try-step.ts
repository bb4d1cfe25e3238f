import type { PodObject, ResourceQuotaObject } from '../../../imports/kubernetes.ts';
import { rightsFor } from '../../../constructs/provider/access.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { groupOf, type Resource, ResourceQuota } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { isAlreadyExists, isForbidden, kubeErrorOf } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { oneLine } from '../../kube/termination-message.ts';
import { truncated } from '../../kube/truncated.ts';
import { mayDo } from './review.ts';
import { type Amounts, exceededBy, fitsAfter, usageOf } from './quota.ts';

/** What a step needs that stops something, from its first stop to the time when all runs again. */
export interface StepNeeds {
  readonly step: 'restore' | 'hibernation' | 'move' | 'rollout' | 'api-server-check' | 'pods';
  /** Pods and volume claims that the operator or a controller creates. */
  readonly creates: readonly RenderedObject[];
  /** Those of them that exist at the same time, each as often as it does. */
  readonly together?: readonly (readonly RenderedObject[])[];
  /** Kinds whose objects the operator changes and deletes. */
  readonly changes: readonly Resource[];
  /** Pods that end before. */
  readonly ends: readonly PodObject[];
}

type Client = Pick<KubernetesApi, 'create' | 'list'>;

/**
 * The dry run of a step: asks the API server for the rights that the step needs, and to create each object with all of its
 * admission, without storing it. Nothing has changed afterwards.
 * @returns one sentence about what is refused and what to do; undefined if nothing is
 * @throws if the API server does not decide
 */
export async function tryStep(client: Client, namespace: string, needs: StepNeeds): Promise<string | undefined> {
  const ends = usageOf(needs.ends);
  const [tries, rights] = await Promise.all([
    Promise.all(needs.creates.map((object) => tryObject(client, object, ends))),
    Promise.all(
      rightsFor(needs.changes).map(([verb, resource]) => missingRight(client, { namespace, verb, resource })),
    ),
  ]);
  const words = [...tries.map(({ refusal }) => refusal), ...rights].filter((refusal) => refusal !== undefined);
  const refusals = words.length > 0 ? words : await refusedTogether(client, namespace, needs, { tries, ends });
  return refusals.length === 0 ? undefined : describeRefusals(refusals);
}

interface Tried {
  readonly object: RenderedObject;
  readonly refusal?: string | undefined;
  /** The object with what admission has added to it; undefined where the API server did not say. */
  readonly admitted?: KubeObject;
}

async function tryObject(client: Client, object: RenderedObject, ends: Amounts): Promise<Tried> {
  try {
    return { object, admitted: await client.create(object, { fieldManager, dryRun: true }) };
  } catch (error) {
    return { object, refusal: refusalBy(error, ends) };
  }
}

/** A quota may accept each object alone, and not all of them. Where the operator may not read quotas, only that is known. */
async function refusedTogether(
  client: Client,
  namespace: string,
  { together = [] }: StepNeeds,
  { tries, ends }: { readonly tries: readonly Tried[]; readonly ends: Amounts },
): Promise<string[]> {
  if (together.every((objects) => objects.length < 2)) return [];
  const quotas = await client.list<ResourceQuotaObject>(ResourceQuota, { namespace }).then(
    ({ items }) => items,
    (error: unknown) => {
      if (isForbidden(error)) return [];
      throw error;
    },
  );
  const admitted = (one: RenderedObject): KubeObject => tries.find(({ object }) => object === one)?.admitted ?? one;
  return together.flatMap((objects) => exceededBy(objects.map(admitted), quotas, ends) ?? []);
}

interface Right {
  readonly namespace: string;
  readonly verb: string;
  readonly resource: Resource;
}

async function missingRight(client: Client, { namespace, verb, resource }: Right): Promise<string | undefined> {
  const attributes = { namespace, verb, group: groupOf(resource), resource: resource.plural };
  try {
    if (await mayDo({ resourceAttributes: attributes }, client)) return undefined;
  } catch (error) {
    // Every user may ask, unless an administrator has taken that away.
    if (isForbidden(error)) return undefined;
    throw error;
  }
  return `the operator cannot ${verb} resource "${resource.plural}" in API group "${attributes.group}" in the namespace "${namespace}"`;
}

/**
 * The words in which an API server refuses an object that it is asked to create without storing it; undefined if it accepts it. An
 * object that exists has passed everything else, because API servers look for its name last. A webhook that does not support dry
 * runs says nothing about the object.
 * @param ends what the pods use that end before the object is created
 * @throws the error if it decides nothing
 */
export function refusalBy(error: unknown, ends: Amounts): string | undefined {
  if (isAlreadyExists(error)) return undefined;
  const { code = 0, message = '' } = kubeErrorOf(error) ?? {};
  const words = oneLine(message.replace(/^create \w+ \S+: /, ''));
  if (words.includes('does not support dry run')) return undefined;
  const isDecided = [400, 403, 422].includes(code) || words.includes('failed calling webhook');
  if (!isDecided) throw error;
  return fitsAfter(message, ends) ? undefined : words;
}

/** What to do about a refusal, by the words of the API server. */
const advice: readonly (readonly [words: string, advice: string])[] = [
  ['failed quota', 'set `resources` of the component, or defaults in a LimitRange of the namespace'],
  ['exceeded quota', 'raise the quota, or lower `resources`'],
  ['per Container is', 'change the LimitRange, or `resources` of the component'],
  ['per Pod is', 'change the LimitRange, or `resources` of the component'],
  ['PriorityClass', 'create the PriorityClass, or correct `priorityClassName`'],
  ['violates PodSecurity', 'correct the settings of the pod, or the standard that the namespace enforces'],
  ['cannot ', 'give the operator the rights of its installation'],
];

const reportedRefusals = 3;
const longestBytes = 1024;

/** One sentence about all refusals, and what to do. @param words of the API server */
export function describeRefusals(words: readonly string[]): string {
  const causes = [...Map.groupBy(new Set(words), causeOf).values()].map(([first = '', ...others]) =>
    others.length > 0 ? `${first} (${others.length} more for the same reason)` : first,
  );
  const more = causes.length > reportedRefusals ? [`and ${causes.length - reportedRefusals} more`] : [];
  const remedies = advice.filter(([sign]) => causes.some((text) => text.includes(sign))).map(([, what]) => what);
  const all = [...causes.slice(0, reportedRefusals), ...more].join('; ');
  return [truncated(all, longestBytes), ...new Set(remedies)].join(': ');
}

/** Without the object: `pods "c1-etcd-0" is forbidden: no PriorityClass ...` */
function causeOf(words: string): string {
  return words.split(' is forbidden: ').at(-1) ?? words;
}
