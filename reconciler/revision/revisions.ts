import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { ConfigMap } from '../../constructs/api/resources.ts';
import { definedOnly } from '../../constructs/cluster/defined.ts';
import type { RevisionFacts } from '../../constructs/cluster/facts.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import { revisionNumber } from '../../constructs/cluster/names.ts';
import { revisionKeys } from '../../constructs/control-plane/revision.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Reader } from '../management/view.ts';

interface RevisionObject extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The newest recorded revision of a control plane, which holds its last accepted spec; undefined if there is none. */
export function newestRevision(reader: Pick<Reader, 'list'>, cluster: string): RevisionFacts | undefined {
  const recorded = reader.list<RevisionObject>(ConfigMap, objectLabels(cluster, 'revision'));
  return recorded.flatMap((object) => read(cluster, object)).sort((one, other) => other.number - one.number)[0];
}

function read(cluster: string, { metadata, data = {} }: RevisionObject): RevisionFacts[] {
  const number = revisionNumber(cluster, metadata.name);
  const { [revisionKeys.spec]: spec, [revisionKeys.generation]: generation } = data;
  return number === undefined || spec === undefined ? [] : [{ number, spec, generation: Number(generation) }];
}

/** The revision that records an accepted spec: the newest one if it has this spec, otherwise the next one. */
export function nextRevision(
  newest: RevisionFacts | undefined,
  { metadata: { generation = 0 }, spec }: Pick<HostedControlPlane, 'metadata' | 'spec'>,
): RevisionFacts {
  // The operator publishes the endpoint, and the CRD refuses every change of it. Cluster API reads machineTemplate, and
  // the operator does not.
  const { controlPlaneEndpoint: _, machineTemplate: _inert, ...asked } = spec;
  const text = JSON.stringify(asked, undefined, 2);
  if (newest?.spec === text) return newest;
  return { number: (newest?.number ?? 0) + 1, generation, spec: text };
}

/** The object with the spec of a revision instead of its own; undefined if the record is not JSON. */
export function atRevision(
  object: KubeObject & { readonly spec?: unknown },
  { spec }: RevisionFacts,
): KubeObject | undefined {
  const { controlPlaneEndpoint } = (object.spec ?? {}) as { controlPlaneEndpoint?: unknown };
  try {
    const recorded = JSON.parse(spec) as object;
    return { ...object, spec: { ...recorded, ...definedOnly({ controlPlaneEndpoint }) } } as KubeObject;
  } catch {
    return undefined;
  }
}
