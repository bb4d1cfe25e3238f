import type { SecretObject } from '../../imports/kubernetes.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../reconciler/encryption-at-rest/secret.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { SecretsReader } from './secrets-reader.ts';
import { storedSecrets, storedUnder } from './stored-secrets.ts';
import { single, type Workbench } from './workbench.ts';

/** A kubelet and an API server take a minute each at most for one step of a change of keys. */
export const keyStepMs = 4 * 60_000;

/** Control planes whose Secrets in etcd tests read, each with a client that continuously reads Secrets in it. */
export class EncryptedSecrets {
  readonly #opened: { readonly hosted: KubeClient; readonly reader: SecretsReader }[] = [];

  readonly #bench: Workbench;

  constructor(bench: Workbench) {
    this.#bench = bench;
  }

  async close(): Promise<void> {
    for (const { hosted, reader } of this.#opened) {
      await reader.stop();
      await hosted.connection.close();
    }
  }

  async open(cluster: string, spec: object = {}): Promise<SecretsReader> {
    await this.#bench.create(cluster, { ...single, replicas: 2, ...spec });
    await this.#bench.untilReady(cluster, 240_000);
    const hosted = await this.#bench.hosted(cluster);
    const reader = new SecretsReader(hosted);
    this.#opened.push({ hosted, reader });
    return reader;
  }

  /** The Secret with the keys. */
  secretName(cluster: string) {
    return { namespace: this.#bench.namespace, name: `${cluster}-encryption` };
  }

  async keysOf(cluster: string): Promise<EncryptionKeys> {
    const keys = readEncryptionKeys(await this.#bench.client.get<SecretObject>(Secret, this.secretName(cluster)));
    if (!keys) throw new Error(`Secret ${cluster}-encryption holds no configuration`);
    return keys;
  }

  /** The running API servers: a restarted pod or container is another one. */
  async apiServers(cluster: string): Promise<string[]> {
    const pods = await this.#bench.pods(cluster, 'api-server');
    return pods
      .map(
        ({ metadata, status }) =>
          `${metadata.uid} ${JSON.stringify(status?.containerStatuses?.map(({ restartCount }) => restartCount))}`,
      )
      .sort();
  }

  /** How many Secrets etcd stores under each key. */
  async stored(cluster: string) {
    return storedUnder(await storedSecrets(this.#bench, cluster));
  }

  /** Resolves when a change of the spec is complete, after the condition was not True. */
  async change(cluster: string, encryptionAtRest: object): Promise<void> {
    await this.#bench.patch(cluster, { spec: { encryptionAtRest } });
    await this.#bench.untilCondition(cluster, 'EncryptionAtRestReady', { status: 'False' });
    await this.#bench.untilCondition(cluster, 'EncryptionAtRestReady', { status: 'True' }, keyStepMs);
  }
}
