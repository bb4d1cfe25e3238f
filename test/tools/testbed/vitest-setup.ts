import type { TestProject } from 'vitest/node';
import { familiesFor } from '../run/lane.ts';
import { findFurtherBinaries } from './binaries.ts';
import { familyId, furtherFamilies } from './families.ts';
import { instanceFrom, kubeconfigPath, testbedLog } from './instance.ts';
import { endAllLent } from '../../support/lent/end-lent.ts';
import { reportTo } from './progress.ts';
import { bringUp } from './bring-up.ts';
import { takeDown } from './take-down.ts';
import { joinUsers, leaveUsers } from './users.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of the administrator's kubeconfig of the management cluster. */
    kubeconfig: string;
    /** Name of the testbed's instance, for `instanceFrom(process.env, name)`. */
    testbed: string;
    /** Id of the process that runs the tests, which starts others for their files. */
    run: number;
  }
}

/**
 * Brings the tests' own testbed up, `test` unless `$HCP_TESTBED` names another; a healthy one is used as it is. It is
 * taken down afterwards, except with `HCP_KEEP_TESTBED=1`, which makes the next run start at once,
 * and while another run uses it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const instance = instanceFrom(process.env, process.env['HCP_TESTBED'] ?? 'test');
  const report = reportTo(testbedLog(instance), process.stderr);
  await joinUsers(instance);
  await bringUp(instance, report);
  // a run of many files compiles what they need before the first of them starts: none has the time to wait for that
  const wanted = familiesFor(process.env);
  const further = furtherFamilies.filter((family) => wanted.includes(familyId(family)));
  if (further.length > 0) await findFurtherBinaries(further, instance.cache, report);
  project.provide('kubeconfig', kubeconfigPath(instance));
  project.provide('testbed', instance.name);
  project.provide('run', process.pid);
  return async () => {
    const isLast = await leaveUsers(instance);
    if (!isLast || process.env['HCP_KEEP_TESTBED'] === '1') return endAllLent(instance, process.pid);
    const left = await takeDown(instance, report);
    if (left.length > 0) throw new Error(`testbed ${instance.name} left behind:\n${left.join('\n')}`);
  };
}
