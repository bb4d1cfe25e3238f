import { fieldManager } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { WorkContext } from '../tasks/background-work.ts';
import type { KubeClient } from '../kube/client.ts';
import { settleAll, resultsOf } from '../kube/concurrency.ts';
import { messageOf } from '../kube/error-message.ts';
import { isNotFound } from '../kube/errors.ts';
import { objectKey, type ObjectName } from '../kube/object.ts';

/** As many at a time as leave an API server all but idle. */
const inFlight = 4;

/** So many between two reports and two administrators, who are valid for minutes only. */
const batchSize = 100;

type Client = Pick<KubeClient, 'pages' | 'mergePatch'>;

/** What runs something as an administrator of the hosted cluster. */
export type AsAdministrator = <T>(work: (client: Client) => Promise<T>) => Promise<T>;

/**
 * Makes the API servers store every Secret anew, under the key that writes now: a patch that changes nothing is written
 * when what is stored is not as it would be written. Of a Secret only its name is ever seen here. Can be stopped and
 * begun again at any point; those that are done cost no write.
 * @throws when one cannot be written, such as by a webhook that refuses it, after all others were tried
 */
export async function rewriteSecrets(asAdministrator: AsAdministrator, { signal, report }: WorkContext): Promise<void> {
  const names = await asAdministrator((client) => namesOfSecrets(client, signal));
  const failures: PromiseSettledResult<void>[] = [];
  for (let done = 0; done < names.length; done += batchSize) {
    signal.throwIfAborted();
    report(`${done} of ${names.length} Secrets are stored anew`);
    const batch = names.slice(done, done + batchSize);
    const outcomes = await asAdministrator((client) =>
      settleAll(batch, inFlight, (name) => rewriteOne(client, name, signal)),
    );
    failures.push(...outcomes.filter(({ status }) => status === 'rejected'));
  }
  resultsOf(failures);
}

async function namesOfSecrets(client: Client, signal: AbortSignal): Promise<ObjectName[]> {
  const names: ObjectName[] = [];
  for await (const page of client.pages(Secret, { metadataOnly: true, signal })) {
    for (const { metadata } of page) names.push({ namespace: metadata.namespace, name: metadata.name });
  }
  return names;
}

async function rewriteOne(client: Client, name: ObjectName, signal: AbortSignal): Promise<void> {
  try {
    await client.mergePatch(Secret, name, {}, { fieldManager, metadataOnly: true, signal });
  } catch (error) {
    // One that is gone needs no key.
    if (!isNotFound(error)) {
      throw new Error(`store Secret ${objectKey(name)} anew: ${messageOf(error)}`, { cause: error });
    }
  }
}
