import { access, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { isCloudRunning } from './background.ts';
import { authorityPath, apiServerUrl, type Instance } from './instance.ts';
import { findMachine } from './machine.ts';

/** Whether a testbed is there, and whether it works. */
export type Health =
  | { readonly state: 'down' }
  | { readonly state: 'broken'; readonly reason: string }
  | { readonly state: 'up' };

/**
 * Looks whether the testbed is there and answers, in some milliseconds. Kept free of the API client, whose loading would
 * be most of the time.
 */
export async function checkHealth(instance: Instance): Promise<Health> {
  if (!(await exists(instance.directory))) return { state: 'down' };
  if (!(await exists(completionMark(instance)))) return broken('it was never up completely');
  if (!(await findMachine(instance, 'm'))) return broken('the management machine does not run');
  if (!(await isCloudRunning(instance))) return broken('the process for storage and load balancers does not run');
  const failure = await apiServerFailure(instance);
  return failure === undefined ? { state: 'up' } : broken(`the API server does not answer: ${failure}`);
}

/** A file that is there when the testbed was up once. */
export function completionMark(instance: Instance): string {
  return join(instance.directory, 'complete');
}

function broken(reason: string): Health {
  return { state: 'broken', reason };
}

/** Anybody may ask for /readyz. */
async function apiServerFailure(instance: Instance): Promise<string | undefined> {
  const ca = await readFile(authorityPath(instance), 'utf8').catch(() => undefined);
  return new Promise((resolve) => {
    const question = request(`${apiServerUrl(instance)}/readyz`, { ca, timeout: 3_000, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`);
    });
    question.once('timeout', () => question.destroy(new Error('no answer within 3 s')));
    question.once('error', (error) => resolve(error.message));
    question.end();
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
