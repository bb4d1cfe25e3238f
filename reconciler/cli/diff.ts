import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { newestRevision } from '../../constructs/cluster/release-revisions.ts';
import { renderedKinds } from '../../constructs/control-plane/kinds.ts';
import { type CommandAccess, findingControlPlane } from './access.ts';
import { withoutValues } from './collect/without-secrets.ts';
import { columns, table } from './columns.ts';
import { NegativeResult, type Command, type ParsedArguments, type Session, UsageError, textOption } from './command.ts';
import { type Comparison, type ObjectChange, type SpecChange, gravest } from './diff/effects.ts';
import { compareOwners } from './diff/field-owners.ts';
import { compareFile, compareRelease, readingSample } from './diff/compare-rendered.ts';
import { outputOf, outputOption, printed } from './output.ts';
import { type View, plainView } from './view.ts';

/** A comparison, and what a person reads below it. */
interface Compared extends Comparison {
  readonly same: string;
  readonly different: string;
}

/**
 * Shows what a changed HostedControlPlane or another release revision would do to a running one, before a user applies it; or what
 * others have changed of a running one.
 */
export const diff: Command = {
  name: 'diff',
  examples: [
    ['diff cluster.yaml', 'what applying the file changes'],
    ['diff prod -n team-a', 'which fields others have set'],
    ['diff prod -n team-a --release-revision 3', 'what the adoption of a release changes'],
  ],
  usage: 'FILE [--field-manager NAME] | CLUSTER [--release-revision N] [-o json|yaml]',
  summary:
    'Shows what a file or release revision would change, or what others have set: exit code 1 if anything, 2 if it fails.',
  options: {
    'field-manager': {
      type: 'string',
      value: 'NAME',
      meaning: 'the one that applies the file, kubectl by default; what it no longer sets is removed',
    },
    'release-revision': {
      type: 'string',
      value: 'N',
      meaning: `show what the adoption of this release revision changes; ${newestRevision} is the newest`,
    },
    output: outputOption(),
  },
  access: [
    findingControlPlane,
    { resource: HostedControlPlane, verbs: ['get', 'patch'], why: 'computing what FILE changes, without storing it' },
    ...readingSample,
    ...renderedKinds.map((resource): CommandAccess => ({
      resource,
      verbs: ['list'],
      why: 'which field managers own fields of its objects',
    })),
  ],
  failureCode: 2,
  prepare(given) {
    const compare = comparisonOf(given);
    const output = outputOf(given);
    return async ({ terminal, ...session }) => {
      const compared = await compare({ terminal, ...session });
      const { spec, objects, same, different } = compared;
      const isSame = spec.length + objects.length === 0;
      const people = () => (isSame ? [same] : describeChanges({ spec, objects }, terminal));
      for (const line of printed(output, shapeOf(compared), people)) terminal.print(line);
      if (isSame) return;
      throw new NegativeResult(`${different}: ${gravest([...spec, ...objects]) ?? 'no restart'}`);
    };
  },
};

/** What `-o json|yaml` prints: of objects the paths of their fields alone, and of the spec no values of environment variables. */
export function shapeOf({ cluster, spec, objects }: Comparison): object {
  return {
    cluster,
    spec: spec.map(({ path, before, after, effect, what, setBy }) => ({
      path,
      ...(/(^|\.)env($|\[)/.test(path) ? {} : { before: withoutValues(before), after: withoutValues(after) }),
      effect,
      what,
      setBy,
    })),
    objects: objects.map(({ fields, ...object }) => ({ ...object, fields: fields.map(({ path }) => path) })),
  };
}

/** @throws UsageError for an option that belongs to the other form */
function comparisonOf(given: ParsedArguments): (session: Session) => Promise<Compared> {
  const target = targetOf(given);
  const fieldManager = textOption(given, 'field-manager');
  const revision = revisionOf(given);
  if (isFile(target)) {
    if (revision !== undefined) throw new UsageError(`--release-revision needs the name of a Cluster, not ${target}`);
    return async (session) => would(target, await compareFile(session, target, fieldManager ?? 'kubectl'));
  }
  if (fieldManager !== undefined)
    throw new UsageError(`--field-manager needs a file, such as ./${target} or ${target}.yaml`);
  if (revision !== undefined)
    return async (session) => would(`release revision ${revision}`, await compareRelease(session, target, revision));
  return async (session) => {
    const compared = await compareOwners(session, target);
    const { cluster } = compared;
    return {
      ...compared,
      same: `only the operator has set fields of the objects of ${cluster}`,
      different: `others have set fields of the objects of ${cluster}, and the operator takes back what it sets itself`,
    };
  };
}

function would(by: string, compared: Comparison): Compared {
  const { cluster } = compared;
  return { ...compared, same: `${by} changes nothing of ${cluster}`, different: `${by} would change ${cluster}` };
}

function targetOf({ positionals }: ParsedArguments): string {
  const [target, ...more] = positionals;
  if (target === undefined || more.length > 0)
    throw new UsageError(`set one file with a HostedControlPlane, or the name of a Cluster, not ${positionals.length}`);
  return target;
}

/** A name of a Cluster has no slash. */
function isFile(target: string): boolean {
  return target === '-' || target.includes('/') || /\.(ya?ml|json)$/.test(target);
}

/** @throws UsageError unless it is a release revision that this release can render */
function revisionOf(given: ParsedArguments): number | undefined {
  const text = textOption(given, 'release-revision');
  if (text === undefined) return undefined;
  const revision = Number(text);
  if (Number.isInteger(revision) && revision >= 1 && revision <= newestRevision) return revision;
  throw new UsageError(`--release-revision must be a whole number from 1 to ${newestRevision}, not "${text}"`);
}

/** What a person reads: the fields that change, who has set them, and what becomes of the objects. */
function describeChanges({ spec, objects }: Pick<Comparison, 'spec' | 'objects'>, view: View = plainView): string[] {
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
