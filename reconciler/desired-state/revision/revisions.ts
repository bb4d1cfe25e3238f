import type { ConfigMapObject } from '../../../imports/kubernetes.ts';
import { z } from 'zod';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { definedOnly } from '../../../constructs/cluster/defined-only.ts';
import type { RevisionFacts } from '../../../constructs/cluster/facts.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { revisionNumber } from '../../../constructs/cluster/names.ts';
import { type Release, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import { revisionKeys } from '../../../constructs/control-plane/revision.ts';
import { isControlledBy, type KubeObject, type ObjectMeta } from '../../kube/object.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { believed, type RecordedRevisions } from './believed.ts';

/** Why the operator does not reconcile the newest spec. */
export interface Refusal {
  /** `RevisionFailed` when it was tried. */
  readonly reason: 'InvalidConfiguration' | 'RevisionFailed';
  readonly message: string;
}

/** The HostedControlPlane, parsed or as it is stored, whose records are read. */
interface RecordOwner {
  readonly metadata: Pick<ObjectMeta, 'uid'>;
  readonly status?: unknown;
}

/** The recorded revisions of a control plane that count. @param cluster name of its Cluster */
export function recordedRevisions(
  reader: Pick<Reader, 'list'>,
  owner: RecordOwner,
  cluster: string,
): RecordedRevisions {
  return revisionsAmong(reader.list<ConfigMapObject>(ConfigMap, objectLabels(cluster, 'revision')), owner, cluster);
}

/** The same among objects that a client has listed. */
export function revisionsAmong(
  objects: readonly ConfigMapObject[],
  { metadata, status }: RecordOwner,
  cluster: string,
): RecordedRevisions {
  const controlled = objects.filter((object) => isControlledBy(object, metadata.uid));
  return believed(
    status,
    controlled.flatMap((object) => read(cluster, object)),
  );
}

/** The revision to reconcile while the newest spec is refused: the newest one, or if that has failed the last that served. */
export function lastUsable({ newest, served }: RecordedRevisions): RevisionFacts | undefined {
  return newest?.failure === undefined ? newest : served;
}

/** Whether nothing but the release differs between the revision that has failed and the one that served. */
export function failsByRelease({ newest, served }: RecordedRevisions): boolean {
  return newest?.failure !== undefined && newest.spec === served?.spec;
}

/** The revisions whose records stay: the newest one, and the last one that served if that is another one. */
export function kept({ newest, served }: RecordedRevisions): RevisionFacts[] {
  return [...new Set([newest, served])].filter((revision) => revision !== undefined);
}

function read(cluster: string, { metadata, data = {} }: ConfigMapObject): RevisionFacts[] {
  const number = revisionNumber(cluster, metadata.name);
  const { spec, generation, release, served, failure } = revisionKeys;
  const text = data[spec];
  if (number === undefined || text === undefined) return [];
  const outcome = definedOnly({ hasServed: data[served] === 'true' || undefined, failure: data[failure] });
  const recorded = readRelease(data[release], text);
  return recorded ? [{ number, spec: text, release: recorded, generation: Number(data[generation]), ...outcome }] : [];
}

/** A version. It names neither a registry nor a repository. */
const tag = () => z.string().regex(/^[\w.-]{1,128}$/);

const ReleaseRecord = z.object({
  revision: z.int().min(1),
  minor: z.int(),
  images: z.object({ etcd: tag(), konnectivity: tag(), coredns: tag() }),
});

/** The recorded release. Records without one are those of operators before there was a second release revision. */
function readRelease(text: string | undefined, spec: string): Release | undefined {
  try {
    return text === undefined ? releaseOf(minorIn(spec), 1) : ReleaseRecord.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The version of Kubernetes in a recorded spec. @throws when the record is not JSON */
export function versionIn(spec: string): string {
  return (JSON.parse(spec) as { readonly version: string }).version;
}

/** The minor of that version. @throws also when it is not one */
export function minorIn(spec: string): number {
  return minorOf(versionIn(spec));
}

/** The spec of an object as revisions record it. */
export function specText({ spec }: Pick<HostedControlPlane, 'spec'>): string {
  // The operator publishes the endpoint, and the CRD refuses every change of it. Cluster API reads machineTemplate, and
  // the operator does not.
  const { controlPlaneEndpoint: _, machineTemplate: _inert, ...asked } = spec;
  return JSON.stringify(asked, undefined, 2);
}

/** The revision that records an accepted spec with its release: the newest one if it has both, otherwise the next one. */
export function nextRevision(
  newest: RevisionFacts | undefined,
  hostedControlPlane: Pick<HostedControlPlane, 'metadata' | 'spec'>,
  release: Release,
): RevisionFacts {
  const spec = specText(hostedControlPlane);
  if (newest?.spec === spec && newest.release.revision === release.revision) return newest;
  const { generation = 0 } = hostedControlPlane.metadata;
  return { number: (newest?.number ?? 0) + 1, generation, spec, release };
}

/** The object with the spec of a revision instead of its own; undefined if the record is not JSON. */
export function atRevision(
  object: KubeObject & { readonly spec?: unknown },
  { spec }: RevisionFacts,
): (KubeObject & { readonly spec: unknown }) | undefined {
  const { controlPlaneEndpoint, machineTemplate } = (object.spec ?? {}) as Readonly<Record<string, unknown>>;
  try {
    const recorded = JSON.parse(spec) as object;
    return { ...object, spec: { ...recorded, ...definedOnly({ controlPlaneEndpoint, machineTemplate }) } };
  } catch {
    return undefined;
  }
}

/** Why a spec has failed that was tried as the newest revision, by this release; undefined if it has not failed, or was not tried. */
export function failureOf(
  hostedControlPlane: Pick<HostedControlPlane, 'metadata' | 'spec'>,
  release: Release,
  { newest }: RecordedRevisions,
): string | undefined {
  return newest && nextRevision(newest, hostedControlPlane, release) === newest ? newest.failure : undefined;
}
