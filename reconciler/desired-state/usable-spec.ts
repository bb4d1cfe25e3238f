import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { type ParsedHostedControlPlane, parseStoredHostedControlPlane } from '../../constructs/api/parse.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import type { RevisionFacts } from '../../constructs/cluster/facts.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import { withComponentTemplate } from '../../constructs/pod/component-template.ts';
import type { KubeObject } from '../kube/object.ts';
import type { RecordedRevisions } from './revision/believed.ts';
import type { ReleaseChoice } from './revision/choose-release.ts';
import { atRevision, failureOf, lastUsable, type Refusal } from './revision/revisions.ts';

/** A spec that the operator can reconcile, and the release by which it renders it. */
export interface UsableSpec {
  /** The object with this spec, which contains what a component template has added. */
  readonly hostedControlPlane: HostedControlPlane;
  readonly release: ReleaseChoice;
  /** The records that count, among them that of the last accepted spec. */
  readonly recorded: RecordedRevisions;
  /** Why the spec of the object is refused, if it is: this is the last usable one instead. */
  readonly refusal?: Refusal | undefined;
}

export interface SpecSources {
  readonly recorded: RecordedRevisions;
  readonly findComponentTemplate: (namespace: string, name: string) => KubeObject | undefined;
  readonly chooseRelease: (hostedControlPlane: HostedControlPlane, recorded: RecordedRevisions) => ReleaseChoice;
}

const unattended =
  'until then nothing is reconciled, because the record of the last accepted spec is missing, or is not what the operator wrote';

/**
 * The newest spec with its component template. While that is refused, or has failed, the last accepted one with which the control
 * plane has served. @returns why there is none, as a sentence
 */
export function usableSpec(object: KubeObject, sources: SpecSources): UsableSpec | string {
  const { recorded, findComponentTemplate, chooseRelease } = sources;
  const { namespace = '' } = object.metadata;
  const newest = readNewest(object, (name) => findComponentTemplate(namespace, name), acceptedSpec(object, recorded));
  const last = () => lastAccepted(object, recorded);
  if (newest.kind === 'refused') {
    const { refusal: message } = newest;
    const usable = last();
    if (usable) return { ...usable, refusal: { reason: 'InvalidConfiguration', message } };
    return recorded.isAltered ? `${message}; ${unattended}` : message;
  }
  const { hostedControlPlane } = newest;
  const release = chooseRelease(hostedControlPlane, recorded);
  const failure = failureOf(hostedControlPlane, release.release, recorded);
  const usable = failure === undefined ? undefined : last();
  if (failure !== undefined && usable) return { ...usable, refusal: { reason: 'RevisionFailed', message: failure } };
  return { hostedControlPlane, release, recorded };
}

/** The object by the last accepted spec, if the operator still accepts that. */
export function lastAccepted(object: KubeObject, recorded: RecordedRevisions): UsableSpec | undefined {
  const revision: RevisionFacts | undefined = lastUsable(recorded);
  const stored = revision && atRevision(object, revision);
  const read = stored && accept(parseStoredHostedControlPlane(stored, stored.spec));
  if (revision === undefined || read?.kind !== 'accepted') return undefined;
  return { hostedControlPlane: read.hostedControlPlane, release: { release: revision.release }, recorded };
}

/** Whether the operator can reconcile a spec, otherwise why not. */
type ReadSpec =
  | { readonly kind: 'accepted'; readonly hostedControlPlane: HostedControlPlane }
  | { readonly kind: 'refused'; readonly refusal: string };

/** The object by its own spec and the template that this refers to. */
function readNewest(
  object: KubeObject,
  findTemplate: (name: string) => KubeObject | undefined,
  accepted: unknown,
): ReadSpec {
  const parsed = parseStoredHostedControlPlane(object, accepted);
  return accept(parsed.valid ? withComponentTemplate(parsed.hostedControlPlane, findTemplate, accepted) : parsed);
}

function acceptedSpec(object: KubeObject, recorded: RecordedRevisions): unknown {
  const revision = lastUsable(recorded);
  return revision && atRevision(object, revision)?.spec;
}

function accept(parsed: ParsedHostedControlPlane): ReadSpec {
  if (!parsed.valid) return { kind: 'refused', refusal: parsed.message };
  const { hostedControlPlane } = parsed;
  const { spec } = hostedControlPlane;
  const contradiction = exposureStrategy(spec).contradiction(definedOnly(spec.controlPlaneEndpoint ?? {}));
  if (contradiction) return { kind: 'refused', refusal: `spec.exposure: ${contradiction.message}` };
  return { kind: 'accepted', hostedControlPlane };
}
