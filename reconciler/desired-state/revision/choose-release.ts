import { Cron } from 'croner';
import { durationSeconds } from '../../../constructs/api/duration.ts';
import { adoptRevisionAnnotation } from '../../../constructs/api/group.ts';
import type { HostedControlPlane } from '../../../constructs/api/hosted-control-plane.ts';
import type { Maintenance } from '../../../constructs/api/maintenance-spec.ts';
import type { RevisionFacts } from '../../../constructs/cluster/facts.ts';
import { isKept, newestRevision, type Release, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import type { AdoptionTurn } from './adoption-waves.ts';
import type { RecordedRevisions } from './believed.ts';
import { failsByRelease, specText, versionIn } from './revisions.ts';

/** The release by which a control plane is rendered. */
export interface ReleaseChoice {
  readonly release: Release;
  /** When a newer release revision is adopted, as a sentence; undefined when there is none. */
  readonly pending?: string | undefined;
  /** Whether the operator adopts the next release revision, or already this one, without a request. */
  readonly isDue?: boolean | undefined;
  /** When to choose again although nothing has changed. */
  readonly again?: Date | undefined;
}

interface ReleaseInput {
  readonly hostedControlPlane: Pick<HostedControlPlane, 'metadata' | 'spec' | 'status'>;
  readonly recorded: RecordedRevisions;
  readonly now: Date;
  /** The newest release revision. @default that of this operator */
  readonly newest?: number | undefined;
  /** Whether a control plane may adopt a newer release revision because its own is no longer kept. */
  readonly turn: (revision: number) => AdoptionTurn;
}

/**
 * Chooses the release for the spec of an object. A control plane keeps the recorded one, so that neither a newer operator nor a
 * change of its spec restarts pods for another template. It adopts the newest one together with a change of its version, which replaces all pods anyway, on request, while its maintenance window is open, and in its turn when its own is
 * too old to be kept.
 */
export function chooseRelease(input: ReleaseInput): ReleaseChoice {
  const { hostedControlPlane, recorded, now, newest = newestRevision, turn } = input;
  const { metadata, spec } = hostedControlPlane;
  const minor = minorOf(spec.version);
  const text = specText(hostedControlPlane);
  const last = lastOf(recorded, text, newest) ?? ofStatus(hostedControlPlane, text, newest);
  if (last === undefined || versionIn(last.spec) !== spec.version) return { release: releaseOf(minor, newest) };
  const { release } = last;
  // An operator that has gone back to an earlier release cannot render what the later one has brought.
  if (release.revision >= newest) return { release: { ...release, revision: newest } };
  const adopted = (revision: number): ReleaseChoice => ({ release: releaseOf(minor, revision) });

  const annotation = metadata.annotations?.[adoptRevisionAnnotation];
  const asked = requested(annotation, newest);
  if (asked !== undefined && asked > release.revision) return adopted(asked);
  if (isOpen(spec.maintenance, now)) return adopted(newest);
  const wave = turn(release.revision);
  if (wave.kind === 'now') return adopted(newest);

  const opens = nextOpening(spec.maintenance, now);
  const invalid = annotation !== undefined && asked === undefined ? `, which is "${annotation}" now` : '';
  const ways = [
    'with the next change of its version',
    ...(opens ? [`when its maintenance window opens, at ${opens.toISOString()}`] : []),
    `with the annotation ${adoptRevisionAnnotation}: "${newest}"${invalid}`,
  ];
  const isDue = !isKept(release.revision, newest + 1);
  const warning = isDue ? '; with the release revision after that the operator adopts it without being asked' : '';
  const waits = wave.kind === 'later' ? `; ${wave.message}` : warning;
  return {
    release,
    pending: `the control plane is rendered by release revision ${release.revision}, and the newest one is ${newest}: it adopts that ${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}${waits}`,
    isDue,
    again: opens,
  };
}

/**
 * The revision whose release a spec keeps: not that of one that has failed, unless it is the same spec. After a release has
 * failed for the same spec, a newer one is chosen as for the one that served. What nothing proves counts for the same spec only.
 */
function lastOf(
  { newest, served, unproven = [] }: RecordedRevisions,
  spec: string,
  newestRelease: number,
): RevisionFacts | undefined {
  if (newest === undefined)
    return unproven.filter((one) => one.spec === spec).toSorted((one, other) => other.number - one.number)[0];
  if (newest?.failure === undefined || served === undefined) return newest;
  const isNewer = failsByRelease({ newest, served }) && newest.release.revision < newestRelease;
  return newest.spec !== spec || isNewer ? served : newest;
}

/** What the status says of a control plane whose record another client has deleted or changed, so that no pod restarts for that. */
function ofStatus(
  { spec, status }: ReleaseInput['hostedControlPlane'],
  text: string,
  newest: number,
): Pick<RevisionFacts, 'spec' | 'release'> | undefined {
  const { releaseRevision: revision, version } = status ?? {};
  if (revision === undefined || revision > newest || version !== spec.version) return undefined;
  return { spec: text, release: releaseOf(minorOf(spec.version), revision) };
}

/** The release revision in the annotation; undefined unless this operator has it. */
function requested(annotation: string | undefined, newest: number): number | undefined {
  const revision = /^[1-9][0-9]*$/.test(annotation ?? '') ? Number(annotation) : undefined;
  return revision !== undefined && revision <= newest ? revision : undefined;
}

/** Whether the maintenance window is open; never without one. */
function isOpen(maintenance: Maintenance | undefined, now: Date): boolean {
  if (maintenance?.window === undefined) return false;
  const began = new Date(now.getTime() - durationSeconds(maintenance.window.duration) * 1000);
  const start = startAfter(maintenance, began);
  return start !== undefined && start <= now;
}

/** The next time at which the maintenance window opens; undefined without one, or when it never opens. */
function nextOpening(maintenance: Maintenance | undefined, now: Date): Date | undefined {
  return maintenance?.window && startAfter(maintenance, now);
}

function startAfter({ window, timeZone = 'UTC' }: Maintenance, time: Date): Date | undefined {
  if (window === undefined) return undefined;
  const options = { mode: '5-part', timezone: timeZone, sloppyRanges: true } as const;
  return new Cron(window.start, options).nextRun(time) ?? undefined;
}
