import { afterAll, beforeAll, inject } from 'vitest';
import { type OwnName, ownTestbedOn } from '../tools/run/testbeds.ts';
import { type Instance, instanceFrom } from '../tools/testbed/instance.ts';
import { takeDown } from '../tools/testbed/take-down.ts';

/**
 * A testbed for one file of tests alone, because other tests need what is lost there. The file brings it up. What an earlier run
 * that was killed has left is removed before, and everything after.
 */
export function ownTestbed(name: OwnName): Instance {
  const instance = instanceFrom(process.env, ownTestbedOn(inject('testbed'), name));
  beforeAll(async () => {
    await takeDown(instance, () => {});
  });
  afterAll(async () => {
    const left = await takeDown(instance, () => {});
    if (left.length > 0) throw new Error(`testbed ${instance.name} left behind:\n${left.join('\n')}`);
  });
  return instance;
}
