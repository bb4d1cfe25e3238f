import { createHash } from 'node:crypto';
import { z } from 'zod';
import { HostedControlPlaneStatus, type RevisionStatus } from '../../../constructs/api/status.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import type { RevisionFacts } from '../../../constructs/cluster/facts.ts';
import { truncated } from '../../kube/truncated.ts';

/** The recorded revisions of a control plane that the operator believes. */
export interface RecordedRevisions {
  /** The one with the last accepted spec. */
  readonly newest: RevisionFacts | undefined;
  /** The last one by which the control plane has served. */
  readonly served: RevisionFacts | undefined;
  /**
   * Records of an object without a status, as after a move. Each client that may create ConfigMaps may have written them, so that they only
   * decide by which release the operator renders the spec of the object itself.
   */
  readonly unproven?: readonly RevisionFacts[] | undefined;
  /** Whether the status names a record that is missing, or is not what the operator wrote. */
  readonly isAltered?: boolean | undefined;
}

/** What the status says of records. Only the operator writes it. */
const Reported = z.object({
  externalManagedControlPlane: z.boolean().optional(),
  revisions: HostedControlPlaneStatus.shape.revisions,
});

/**
 * Which records count, among those that the object controls: those whose digest is in its status. An owner reference alone proves
 * nothing, because the author of an object writes it.
 */
export function believed(status: unknown, found: readonly RevisionFacts[]): RecordedRevisions {
  const reported = Reported.safeParse(status ?? {}).data;
  // Operators of earlier releases wrote this beside all that they reported, and no digests.
  if (reported?.revisions === undefined && reported?.externalManagedControlPlane) return among(found);
  if (reported?.revisions === undefined)
    return { newest: undefined, served: undefined, unproven: found.map(withoutOutcome) };
  const known = reported.revisions.flatMap(({ number, digest, served: hasServed, failure }) =>
    found
      .filter((one) => one.number === number && digestOf(one) === digest)
      .map((one) => ({ ...withoutOutcome(one), ...definedOnly({ hasServed, failure }) })),
  );
  return { ...among(known), ...(known.length < reported.revisions.length ? { isAltered: true } : {}) };
}

function among(revisions: readonly RevisionFacts[]): RecordedRevisions {
  const recorded = revisions.toSorted((one, other) => other.number - one.number);
  return { newest: recorded[0], served: recorded.find(({ hasServed }) => hasServed) };
}

function withoutOutcome({ number, generation, spec, release }: RevisionFacts): RevisionFacts {
  return { number, generation, spec, release };
}

/** What the status says of these records, so that the next reconcile believes them. */
export function reported(revisions: readonly RevisionFacts[]): RevisionStatus[] {
  return revisions.map((revision) => ({
    number: revision.number,
    digest: digestOf(revision),
    ...definedOnly({
      served: revision.hasServed,
      failure: revision.failure === undefined ? undefined : truncated(revision.failure, longestFailure),
    }),
  }));
}

const longestFailure = 1024;

/** Of what a record has: what became of it is in the status alone. */
function digestOf({ number, generation, spec, release }: RevisionFacts): string {
  const { revision, minor, images } = release;
  const content = [number, generation, spec, revision, minor, images.etcd, images.konnectivity, images.coredns];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
