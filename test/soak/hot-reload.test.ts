import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reloads } from '../../constructs/control-plane/certificates/restarts.ts';
import { podsOf, uses } from '../../constructs/control-plane/certificates/certificate-consumers.ts';
import { clusterOf } from '../support/rendered-cluster.ts';
import { ReloadObservations } from './reload-observations.ts';
import { startMs } from './reload-requests.ts';
import { programs, ReloadTrial, slowestReloadMs } from './reload-trial.ts';

const newest = 'the newest minor';
const minors = [newest, '1.34', '1.33'];
const trials = new Map<string, ReloadTrial>();
const observations = new Map<string, ReloadObservations>();

/**
 * Everything starts with the old generation; then every file is replaced, and later the test checks which programs reloaded it.
 * The minors start one after the other, because each takes ports that are free, and wait side by side. The newest waits longest,
 * until its programs have reloaded what clients of Kubernetes reload after five minutes. By the turn of the others the same time
 * has passed for them: what they have not reloaded then, they do not reload.
 */
beforeAll(async () => {
  for (const minor of minors) trials.set(minor, await ReloadTrial.start(minor === newest ? undefined : minor));
  await Promise.all([...trials.values()].map((trial) => trial.replaceFiles()));
  for (const [minor, trial] of trials) observations.set(minor, new ReloadObservations(trial));
}, 4 * slowestReloadMs);
afterAll(async () => {
  for (const trial of trials.values()) await trial.stop();
});

/** Programs in pods; the operator creates its own clients again at every change, and Cluster API reads Secrets. */
const rows = Object.entries(uses).flatMap(([role, list]) =>
  list
    .filter(({ program }) => podsOf[program] !== undefined)
    .map((use) => ({ use, name: `${role}: ${use.program} ${use.purpose}` })),
);

describe.each(minors)('a file that changes while its program of %s runs', (minor) => {
  const trial = (): ReloadTrial => {
    const found = trials.get(minor);
    if (!found) throw new Error(`${minor} has not started`);
    return found;
  };
  // Where programs keep the CA of their kubeconfig, the API server is restarted for them, after which nothing is as before.
  const isLast = ({ use }: (typeof rows)[number]) => minor !== newest && use.reloads === 'reloadsKubeconfigCA';
  const inOrder = [...rows.filter((row) => !isLast(row)), ...rows.filter(isLast)];

  test.each(inOrder)('$name: is reloaded as the table says', { timeout: 2 * startMs }, async ({ use, name }) => {
    const observe = observations.get(minor)?.byPurpose[name];
    if (!observe) throw new Error(`nothing shows whether it is taken up: ${name}`);
    expect(await observe()).toBe(reloads(use, clusterOf({ spec: { version: trial().version } })));
  });

  test.each(programs)('ends no program: %s', (name) => {
    expect(trial().isRunning(name)).toBe(true);
  });
});
