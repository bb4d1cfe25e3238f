import { apiVersion } from '../../../constructs/api/group.ts';
import { parseHostedControlPlane } from '../../../constructs/api/parse-manifest.ts';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { networkOf } from '../../../constructs/cluster/cluster.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { settleAll } from '../../../reconciler/kube/concurrency.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { dryRun, withoutAddress } from '../rendering-api-server.ts';
import { renderedObjects } from './effects.ts';
import { randomSpec } from './random-specs.ts';

/** Namespace of the objects, which must exist. */
export const randomNamespace = 'random';

export interface RandomSpecs {
  /** The first seed. */
  readonly first: number;
  readonly specs: number;
  /** For how many of the valid ones the API server is asked about what they render. */
  readonly rendered: number;
}

const inFlight = 8;

/**
 * Sends random specs to a real API server, which must refuse each by the name of a field, or accept it. What it accepts must
 * be valid for the operator too, and rendered to objects that the API server accepts.
 * @returns the number of accepted specs, and every violation of this
 */
export async function sendRandomSpecs(
  client: KubeClient,
  { first, specs, rendered }: RandomSpecs,
): Promise<{ readonly accepted: number; readonly problems: readonly string[] }> {
  const valid = new Map<number, readonly KubeObject[]>();
  const seeds = Array.from({ length: specs }, (_, index) => first + index);
  const answers = await settleAll(seeds, inFlight, async (seed) => {
    const accepted = await stored(client, seed);
    if (accepted) valid.set(seed, objectsOf(seed, accepted));
  });

  const chosen = [...valid].toSorted(([one], [other]) => one - other).slice(0, rendered);
  const objects = chosen.flatMap(([seed, all]) => all.map((object) => ({ seed, object })));
  const applied = await settleAll(objects, inFlight, async ({ seed, object }) => {
    await client.apply(object, dryRun).catch((error: unknown) => {
      throw new Error(`seed ${seed}: ${String(error)}`);
    });
  });
  const problems = [...answers, ...applied].flatMap((answer) =>
    answer.status === 'rejected' ? [String(answer.reason)] : [],
  );
  return { accepted: valid.size, problems };
}

/** The object as the API server would store it; undefined if it refuses it by the name of a field. */
async function stored(client: KubeClient, seed: number): Promise<KubeObject | undefined> {
  const metadata = { name: 'random', namespace: randomNamespace };
  const object = { apiVersion, kind: HostedControlPlane.kind, metadata, spec: randomSpec(seed) };
  try {
    return await client.apply(object, dryRun);
  } catch (error) {
    if (error instanceof KubeError && /\bspec\b/.test(error.message)) return undefined;
    throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
  }
}

/** Fields with a rule that CEL cannot express. */
const onlyByOperator: readonly string[] = ['spec.etcd.backup.timeZone'];

function objectsOf(seed: number, object: KubeObject): KubeObject[] {
  const parsed = parseHostedControlPlane(object);
  if (!parsed.valid && parsed.problems.every(({ path }) => onlyByOperator.includes(path))) return [];
  if (!parsed.valid)
    throw new Error(`seed ${seed}: the API server accepts it, but the operator does not: ${parsed.message}`);
  const { spec } = parsed.hostedControlPlane;
  const cluster = { name: 'c1', namespace: randomNamespace, network: networkOf(undefined), spec };
  const { management, hosted } = renderedObjects(cluster);
  return [...management, ...hosted.map(withoutAddress)];
}
