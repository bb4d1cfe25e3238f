/** The testbeds of a run of many files: that of the files that use a whole host, and that of all others. */
export const testbeds = { host: 'testhost', real: 'test' } as const;

/** Testbeds that single files bring up for themselves, because other files need what is lost there. */
const ownNames = ['char', 'demo', 'dike', 'fire', 'kind', 'life', 'loss', 'move', 'past', 'seed', 'two'] as const;

export type OwnName = (typeof ownNames)[number];

/** The testbed that a file brings up for itself while it runs on another one. The name of an instance has at most nine letters. */
export function ownTestbedOn(testbed: string, name: OwnName): string {
  return `${testbed.slice(0, 5)}${name}`;
}

/** A testbed, and all that files on it may bring up. */
export function withOwn(testbed: string): string[] {
  return [testbed, ...ownNames.map((name) => ownTestbedOn(testbed, name))];
}
