import type { PodObject, ResourceQuotaObject } from '../../../imports/kubernetes.ts';
import { rightsFor } from '../../../constructs/provider/access.ts';
import { fieldManager } from '../../../constructs/api/group.ts';
import { groupOf, type Resource, ResourceQuota, SelfSubjectAccessReview } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { describeRefusals, verdictOf } from './judge.ts';
import { type Amounts, exceededBy, usageOf } from './quota.ts';

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
    const verdict = verdictOf(error, ends);
    if (verdict.kind === 'unknown') throw error;
    return { object, refusal: verdict.kind === 'refused' ? verdict.words : undefined };
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

/** A review of any kind: the kinds share no type. */
interface Review extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean };
}

async function missingRight(client: Client, { namespace, verb, resource }: Right): Promise<string | undefined> {
  const { apiVersion, kind } = SelfSubjectAccessReview;
  const group = groupOf(resource);
  const review: Review = {
    apiVersion,
    kind,
    metadata: { name: '' },
    spec: { resourceAttributes: { namespace, verb, group, resource: resource.plural } },
  };
  try {
    const { status } = await client.create(review, { fieldManager });
    if (status?.allowed === true) return undefined;
  } catch (error) {
    // Every user may ask, unless an administrator has taken that away.
    if (isForbidden(error)) return undefined;
    throw error;
  }
  return `the operator cannot ${verb} resource "${resource.plural}" in API group "${group}" in the namespace "${namespace}"`;
}
