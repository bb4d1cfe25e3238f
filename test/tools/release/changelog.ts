/** What a list of changes is written from. */
interface Changes {
  readonly date: string;
  readonly previous: string | undefined;
  readonly changes: readonly string[];
}

/** The changes since the release before, as a page. Each commit says in its subject what works with it. */
export function changelog(version: string, { date, previous, changes }: Changes): string {
  const since = previous === undefined ? 'The first release.' : `Changes since ${previous}:`;
  const list = previous === undefined ? [] : ['', ...changes.map((subject) => `* ${subject}`)];
  return [`# v${version}, ${date.slice(0, 10)}`, '', since, ...list, ''].join('\n');
}
