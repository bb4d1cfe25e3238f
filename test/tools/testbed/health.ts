import { access, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isCloudRunning } from './background.ts';
import { caPath, apiServerUrl, type Instance } from './instance.ts';
import { findMachine } from './machine.ts';

/** Whether a testbed exists, and whether it works. */
export type Health =
  | { readonly state: 'down' }
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'up' };

/** The time without an answer after which an API server counts as broken: the caller takes everything down then. */
const patienceMs = 30_000;

/**
 * Checks whether the testbed exists and answers, in some milliseconds unless it is too busy. It does not import the API
 * client, whose loading would be most of the time.
 */
export async function checkHealth(instance: Instance): Promise<Health> {
  if (!(await exists(instance.directory))) return { state: 'down' };
  if (!(await exists(completionMark(instance)))) return broken('it was never up completely');
  for (const end = performance.now() + patienceMs; ; await sleep(200)) {
    if (!(await findMachine(instance, 'm'))) return broken('the management machine does not run');
    if (!(await isCloudRunning(instance))) return broken('the process for storage and load balancers does not run');
    const failure = await apiServerFailure(instance);
    if (failure === undefined) return { state: 'up' };
    const isOver = failure.code === 'ECONNREFUSED' || performance.now() > end;
    if (isOver) return broken(`the API server does not answer: ${failure.message}`);
  }
}

/** A file that exists if the testbed was up once. */
export function completionMark(instance: Instance): string {
  return join(instance.directory, 'complete');
}

function broken(reason: string): Health {
  return { state: 'broken', reason };
}

/** /readyz needs no credentials. */
async function apiServerFailure(instance: Instance): Promise<NodeJS.ErrnoException | undefined> {
  const ca = await readFile(caPath(instance), 'utf8').catch(() => undefined);
  return new Promise((resolve) => {
    const question = request(`${apiServerUrl(instance)}/readyz`, { ca, timeout: 3_000, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200 ? undefined : new Error(`status ${answer.statusCode}`));
    });
    question.once('timeout', () => question.destroy(new Error('no answer within 3 s')));
    question.once('error', resolve);
    question.end();
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
