import type { SecretObject } from '../../imports/kubernetes.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { SecretRole } from '../../constructs/control-plane/certificates/certificate-consumers.ts';
import type { MemoryObjects } from '../support/memory-objects.ts';
import { clusterName } from '../support/scope.ts';

const { secrets } = namesOf(clusterName);

/** The content of all Secrets at one moment. */
export class Secrets {
  readonly #data: ReadonlyMap<string, SecretObject['data']>;

  private constructor(data: ReadonlyMap<string, SecretObject['data']>) {
    this.#data = data;
  }

  static of(management: MemoryObjects): Secrets {
    const objects = management.objects.filter(({ kind }) => kind === Secret.kind) as unknown as SecretObject[];
    return new Secrets(new Map(objects.map(({ metadata, data }) => [metadata.name, data])));
  }

  /** A decoded value; empty if there is none. */
  value(role: SecretRole, key: string): string {
    return decoded(this.#data.get(secrets[role])?.[key] ?? '');
  }

  equals(other: Secrets): boolean {
    return (
      this.#data.size === other.#data.size && [...this.#data].every(([name, data]) => other.#data.get(name) === data)
    );
  }
}

/** Equal texts are one string object, so that caches find them without comparing content. */
function decoded(base64: string): string {
  const known = texts.get(base64);
  if (known !== undefined) return known;
  const text = Buffer.from(base64, 'base64').toString('utf8');
  texts.set(base64, text);
  return text;
}

const texts = new Map<string, string>();
