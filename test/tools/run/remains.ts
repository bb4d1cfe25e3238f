import { existsSync } from 'node:fs';
import { type Instance, instanceFrom } from '../testbed/instance.ts';
import { takeDown } from '../testbed/take-down.ts';
import { hasUsers } from '../testbed/users.ts';
import { testbeds, withOwn } from './testbeds.ts';

/** What it takes to remove testbeds. */
export interface Host {
  readonly exists: (instance: Instance) => boolean;
  /** Whether a running process uses it. */
  readonly hasUsers: (instance: Instance) => Promise<boolean>;
  /** Returns what it could not remove. */
  readonly takeDown: (instance: Instance) => Promise<readonly string[]>;
}

const thisHost: Host = {
  exists: ({ directory }) => existsSync(directory),
  hasUsers,
  takeDown: (instance) => takeDown(instance, (line) => console.log(line)),
};

/**
 * Takes down what runs that were killed have left: the testbeds of a run, and those of single files, in which a new one would find
 * foreign objects. A testbed that another run uses stays, and so do those of its files. Returns what is left behind.
 */
export async function removeRemains(host = thisHost): Promise<string[]> {
  const left: string[] = [];
  for (const testbed of Object.values(testbeds)) {
    if (await host.hasUsers(instanceFrom(process.env, testbed))) continue;
    const instances = withOwn(testbed).map((name) => instanceFrom(process.env, name));
    for (const instance of instances.filter(host.exists)) {
      const remains = await host.takeDown(instance).catch((error: unknown) => [String(error)]);
      left.push(...remains.map((each) => `testbed ${instance.name} left behind: ${each}`));
    }
  }
  return left;
}
