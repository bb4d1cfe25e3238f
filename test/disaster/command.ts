import { access, rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { checkHealth } from '../tools/testbed/health.ts';
import { binDirectory, type Instance, kubeconfigPath } from '../tools/testbed/instance.ts';
import { savedProcess, saveProcess } from '../tools/testbed/process-record.ts';
import type { Report } from '../tools/testbed/progress.ts';
import { takeDown } from '../tools/testbed/take-down.ts';
import { claims } from './claims.ts';
import { runDisaster, type Rebuilt } from './disaster.ts';

/**
 * `npm run testbed -- disaster`: loses a whole management cluster and rebuilds its hosted cluster in a new one, from
 * nothing to the end, and takes all down, unless `--keep` is given. Returns the exit code.
 */
export async function disasterCommand(instance: Instance, args: readonly string[], report: Report): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { keep: { type: 'boolean', default: false } } });
  await makeRoom(instance, report);
  await saveProcess(ownerRecord(instance), process.pid);
  try {
    return printClaims(await runDisaster(instance, report), report);
  } finally {
    if (values.keep) report(whereToLook(instance));
    else for (const line of await takeDown(instance, report)) report(`left behind: ${line}`);
    await rm(ownerRecord(instance));
  }
}

/** Takes down the leftovers of a killed disaster. @throws for a testbed that belongs to another process */
async function makeRoom(instance: Instance, report: Report): Promise<void> {
  if ((await checkHealth(instance)).state === 'down') return;
  const isLeftOver = await access(ownerRecord(instance)).then(
    async () => !(await savedProcess(ownerRecord(instance))),
    () => false,
  );
  if (!isLeftOver) {
    throw new Error(
      `testbed ${instance.name} is there, and would be lost: npm run testbed -- down, or choose another HCP_TESTBED`,
    );
  }
  await takeDown(instance, report);
}

/** Records the process that runs a disaster in a testbed, to which the testbed belongs meanwhile. */
function ownerRecord(instance: Instance): string {
  return `${instance.directory}.disaster`;
}

/** Prints which claims are true; returns 1 if one is not. */
function printClaims(rebuilt: Rebuilt, report: Report): number {
  const results = claims.map(({ claim, fault }) => ({ claim, fault: fault(rebuilt) }));
  for (const { claim, fault } of results) report(fault === undefined ? `   ok  ${claim}` : `FAULT  ${claim}: ${fault}`);
  const { seconds, writes } = rebuilt;
  report(`
of ${writes.acknowledged} writes ${writes.younger} were younger than backup ${writes.backup}: they are gone
${seconds.worker.toFixed(1)} s after the first kubectl apply the worker was Ready, ${seconds.rebuild.toFixed(1)} s after it all of the control plane
the endpoint was silent for ${seconds.silence.toFixed(1)} s, in which the fresh management cluster was made, too`);
  return results.every(({ fault }) => fault === undefined) ? 0 : 1;
}

function whereToLook(instance: Instance): string {
  return `
It is kept. To explore:

  export PATH=${binDirectory(instance)}:$PATH
  export KUBECONFIG=${kubeconfigPath(instance)}
  kubectl --namespace disaster get cluster,hostedcontrolplane,pods
  kubectl --namespace disaster describe hostedcontrolplane
  npm run testbed -- status

npm run testbed -- down removes it all`;
}
