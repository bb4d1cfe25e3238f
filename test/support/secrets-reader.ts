import type { SecretObject } from '../../imports/kubernetes.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { isAlreadyExists, kubeErrorOf } from '../../reconciler/kube/errors.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { ContinuousUser } from './continuous-user.ts';
import { until } from './until.ts';

const namespace = 'default';
/** Pause between two rounds of ten reads: often enough to read in every state of a rotation, each of which lasts some seconds. */
const restMs = 1_000;
/** Timeout after which a read counts as unanswered and the next one starts. */
const deadlineMs = 5_000;

/**
 * Writes Secrets of a hosted cluster and reads all of them in a loop, one by one and uncached, while the encryption keys
 * rotate.
 */
export class SecretsReader extends ContinuousUser {
  readonly #client: KubeClient;
  readonly #names: string[] = [];
  readonly #failures: string[] = [];
  #reads = 0;
  #unanswered = 0;

  /** @param client of the hosted cluster; it is not closed */
  constructor(client: KubeClient) {
    super();
    this.#client = client;
    this.begin(restMs, () => this.#read());
  }

  /** How often a Secret was read. */
  get reads(): number {
    return this.#reads;
  }

  /** Reads without an answer, such as from an API server that was just stopped. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Secrets that the API servers could not read, or returned with another value. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** Writes this many more Secrets; each contains its own name. */
  async write(count: number): Promise<void> {
    for (let made = 0; made < count; made += 20) {
      const from = this.#names.length;
      const names = Array.from({ length: Math.min(20, count - made) }, (_, index) => `secret-${from + index}`);
      await Promise.all(names.map((name) => until(`Secret ${name} to be written`, () => this.#create(name), 60_000)));
      this.#names.push(...names);
    }
  }

  /** Whether the Secret exists; false also without an answer, in which case it is unknown. */
  async #create(name: string): Promise<boolean> {
    try {
      await this.#client.create(secret(name), { fieldManager: 'test', deadlineMs });
      return true;
    } catch (error) {
      if (isAlreadyExists(error)) return true;
      if (kubeErrorOf(error)?.code === 0) return false;
      throw error;
    }
  }

  async #read(): Promise<void> {
    for (const name of this.#names.toSorted(() => Math.random() - 0.5).slice(0, 10)) {
      try {
        const found = await this.#client.get<SecretObject>(Secret, { namespace, name }, { deadlineMs });
        if (valueOf(found, 'name') !== name) this.#failures.push(`${name} is not what was written`);
        this.#reads += 1;
      } catch (error) {
        if (kubeErrorOf(error)?.code === 0) this.#unanswered += 1;
        else this.#failures.push(String(error));
      }
    }
  }
}

function secret(name: string) {
  const data = { name: Buffer.from(name).toString('base64') };
  return { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { namespace, name }, data };
}
