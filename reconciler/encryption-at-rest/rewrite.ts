import { fieldManager } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { WorkContext } from '../engine/tasks/background-work.ts';
import { Collection } from '../kube/cache-budget.ts';
import type { KubeClient } from '../kube/client.ts';
import { settleAll, resultsOf } from '../kube/concurrency.ts';
import { messageOf } from '../kube/error-message.ts';
import { isNotFound } from '../kube/errors.ts';
import { objectKey, type ObjectName } from '../kube/object.ts';

/** The number of parallel requests. It leaves an API server nearly idle. */
const inFlight = 4;

/**
 * Number of Secrets between two progress reports, and per administrator certificate, which is valid only for minutes.
 */
const batchSize = 100;

type Client = Pick<KubeClient, 'pages' | 'mergePatch'>;

/** Runs work as an administrator of the hosted cluster. */
export type AsAdministrator = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/**
 * Makes the API servers rewrite every Secret with the current write key. A patch without changes is written if the
 * stored form differs from the form that would be written. Only names of Secrets are read here. It can be interrupted
 * and restarted at any point; Secrets that are done cause no write.
 * @throws if one cannot be written, such as when a webhook refuses it, after all others were tried
 */
export async function rewriteSecrets(asAdministrator: AsAdministrator, { signal, report }: WorkContext): Promise<void> {
  const names = await asAdministrator((client) => namesOfSecrets(client, signal));
  const failures: PromiseSettledResult<void>[] = [];
  for (let done = 0; done < names.length; done += batchSize) {
    signal.throwIfAborted();
    report(`${done} of ${names.length} Secrets are rewritten`);
    const batch = names.slice(done, done + batchSize);
    const outcomes = await asAdministrator((client) =>
      settleAll(batch, inFlight, (name) => rewriteOne(client, name, signal)),
    );
    failures.push(...outcomes.filter(({ status }) => status === 'rejected'));
  }
  resultsOf(failures);
}

async function namesOfSecrets(client: Client, signal: AbortSignal): Promise<ObjectName[]> {
  const names = new Collection<ObjectName>();
  for await (const page of client.pages(Secret, { metadataOnly: true, signal })) {
    for (const { metadata } of page) names.add({ namespace: metadata.namespace, name: metadata.name });
  }
  return names.items;
}

async function rewriteOne(client: Client, name: ObjectName, signal: AbortSignal): Promise<void> {
  try {
    await client.mergePatch(Secret, name, {}, { fieldManager, metadataOnly: true, signal });
  } catch (error) {
    // A deleted Secret needs no key.
    if (!isNotFound(error)) {
      throw new Error(`cannot rewrite Secret ${objectKey(name)}: ${messageOf(error)}`, { cause: error });
    }
  }
}
