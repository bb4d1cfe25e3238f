import { rightsFor } from '../../constructs/provider/access.ts';
import { fieldManager } from '../../constructs/api/group.ts';
import { groupOf, type Resource, SelfSubjectAccessReview } from '../../constructs/api/resources.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { KubernetesApi } from '../kube/client.ts';
import { isForbidden } from '../kube/errors.ts';
import type { KubeObject } from '../kube/object.ts';
import { describeRefusals, verdictOf } from './judge.ts';
import { type Amounts, type CountedPod, usageOf } from './quota.ts';

/** What a step needs that stops something, from its first stop to the time when all runs again. */
export interface StepNeeds {
  readonly step: 'restore' | 'hibernation' | 'move' | 'rollout' | 'api-server-check' | 'pods';
  /** Pods and volume claims that the operator or a controller creates. */
  readonly creates: readonly RenderedObject[];
  /** Kinds whose objects the operator changes and deletes. */
  readonly changes: readonly Resource[];
  /** Pods that end before. */
  readonly ends: readonly CountedPod[];
}

type Client = Pick<KubernetesApi, 'create'>;

/**
 * The dry run of a step: asks the API server for the rights that the step needs, and to create each object with all of its
 * admission, without storing it. Nothing has changed afterwards.
 * @returns one sentence about what is refused and what to do; undefined if nothing is
 * @throws if the API server does not decide
 */
export async function tryStep(client: Client, namespace: string, needs: StepNeeds): Promise<string | undefined> {
  const ends = usageOf(needs.ends);
  const refusals = await Promise.all([
    ...needs.creates.map((object) => refusalOf(client, object, ends)),
    ...rightsFor(needs.changes).map(([verb, resource]) => missingRight(client, { namespace, verb, resource })),
  ]);
  const words = refusals.filter((refusal) => refusal !== undefined);
  return words.length === 0 ? undefined : describeRefusals(words);
}

async function refusalOf(client: Client, object: RenderedObject, ends: Amounts): Promise<string | undefined> {
  try {
    await client.create(object, { fieldManager, dryRun: true });
    return undefined;
  } catch (error) {
    const verdict = verdictOf(error, ends);
    if (verdict.kind === 'unknown') throw error;
    return verdict.kind === 'refused' ? verdict.words : undefined;
  }
}

interface Right {
  readonly namespace: string;
  readonly verb: string;
  readonly resource: Resource;
}

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
