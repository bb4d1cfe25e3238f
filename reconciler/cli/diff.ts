import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import { columns, table } from './columns.ts';
import { type Command, type Given, type Session, textOption, UsageError } from './command.ts';
import { compareFile } from './diff/compare-file.ts';
import { compareLive } from './diff/compare-live.ts';
import { plainView, type View } from './view.ts';
import { type Comparison, gravest, type ObjectChange, type SpecChange } from './diff/effects.ts';

/**
 * Shows what a changed HostedControlPlane would do to a running one, before a user applies it; or what differs between a running one
 * and what an operator of this release applies.
 */
export const diff: Command = {
  name: 'diff',
  usage: 'FILE [--field-manager NAME] | CLUSTER [--release-revision N]',
  summary:
    'Shows what a changed file, or this release, would change and restart; exit code 1 when it changes anything.',
  options: {
    'field-manager': {
      type: 'string',
      value: 'NAME',
      meaning: 'the one that applies the file, kubectl by default; what it no longer sets is removed',
    },
    'release-revision': {
      type: 'string',
      value: 'N',
      meaning: `by which the control plane is rendered, its own by default; ${newestRevision} is the newest`,
    },
  },
  prepare(given) {
    const target = targetOf(given);
    const fieldManager = textOption(given, 'field-manager') ?? 'kubectl';
    const revision = revisionOf(given);
    return async (session) => {
      const what = isFile(target)
        ? { by: target, ...(await compareFile(session, target, fieldManager)) }
        : await compareWithRelease(session, target, revision);
      for (const line of describeChanges(what, session.terminal)) session.terminal.print(line);
      const { by, cluster, spec, objects } = what;
      if (spec.length + objects.length === 0) return session.terminal.print(`${by} changes nothing of ${cluster}`);
      throw new Error(`${by} would change ${cluster}: ${gravest([...spec, ...objects]) ?? 'no restart'}`);
    };
  },
};

async function compareWithRelease(session: Session, cluster: string, revision: number | undefined) {
  const { releaseRevision, ...compared } = await compareLive(session, cluster, revision);
  return { by: `release revision ${releaseRevision}`, ...compared };
}

function targetOf({ positionals }: Given): string {
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0)
    throw new UsageError(
      `set one file with a HostedControlPlane, - for standard input, or the name of a Cluster, not ${positionals.length}`,
    );
  return target;
}

/** Whether an argument is a file, and not the name of a Cluster. */
function isFile(target: string): boolean {
  return target === '-' || target.includes('/') || /\.(ya?ml|json)$/.test(target);
}

/** @throws UsageError unless it is a release revision that this release can render */
function revisionOf(given: Given): number | undefined {
  const text = textOption(given, 'release-revision');
  if (text === undefined) return undefined;
  const revision = Number(text);
  if (Number.isInteger(revision) && revision >= 1 && revision <= newestRevision) return revision;
  throw new UsageError(`--release-revision must be a whole number from 1 to ${newestRevision}, not "${text}"`);
}

/** What a person reads: the fields that change, who has set them, and what becomes of the objects. */
export function describeChanges(
  { spec, objects }: Pick<Comparison, 'spec' | 'objects'>,
  view: View = plainView,
): string[] {
  const parts = [fieldLines(spec), objects.length > 0 ? objectLines(objects, view) : ['no object changes']];
  return spec.length + objects.length === 0 ? [] : parts.filter(({ length }) => length > 0).flatMap(separated);
}

function separated(lines: readonly string[], index: number): string[] {
  return index === 0 ? [...lines] : ['', ...lines];
}

function fieldLines(spec: readonly SpecChange[]): string[] {
  return columns(
    spec.map(({ path, before, after, what, setBy = [] }) => [
      `spec.${path}`,
      `${shown(before)} -> ${shown(after)}`,
      setBy.length > 0 ? `set by ${setBy.join(', ')}` : '',
      what ?? '',
    ]),
  );
}

function objectLines(objects: readonly ObjectChange[], view: View): string[] {
  const hasOwners = objects.some(({ setBy = [] }) => setBy.length > 0);
  const rows = objects.map(({ place, object, effect, fields, setBy = [] }) => [
    `${place === 'hosted' ? 'hosted: ' : ''}${object}`,
    effect,
    ...(hasOwners ? [setBy.join(', ')] : []),
    fields.map(({ path }) => path || 'whole object').join(', '),
  ]);
  return table([['OBJECT', 'EFFECT', ...(hasOwners ? ['SET BY'] : []), 'FIELDS'], ...rows], view);
}

/** Short, because a whole template fits in no line. */
function shown(value: unknown): string {
  if (value === undefined) return 'unset';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
