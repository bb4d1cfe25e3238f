import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A request, as an API server has recorded it. */
export interface AuditedRequest {
  readonly verb: string;
  readonly user: string;
  readonly resource: string;
  /** Undefined for requests about whole objects. */
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Undefined for requests about many objects. */
  readonly name: string | undefined;
}

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: Partial<Pick<AuditedRequest, 'resource' | 'subresource' | 'namespace' | 'name'>>;
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [{ level: 'Metadata' }],
};

/** The audit log of an API server that starts with {@link flags}, in a directory of its own for the tests of a file. */
export class AuditLog {
  #directory = '';

  /** To be read when the server starts: an array whose texts exist by then. */
  readonly flags: string[] = [];

  async make(): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'audit-'));
    const policyFile = join(this.#directory, 'policy.json');
    await writeFile(policyFile, JSON.stringify(policy));
    this.flags.push(`--audit-policy-file=${policyFile}`, `--audit-log-path=${this.#file}`);
  }

  /** The requests about objects of these users, in the order in which they ended. */
  async requestsOf(...users: readonly string[]): Promise<AuditedRequest[]> {
    const lines = (await readFile(this.#file, 'utf8')).trimEnd().split('\n');
    return lines
      .map((line) => JSON.parse(line) as AuditEvent)
      .flatMap(({ verb, user, objectRef }) => {
        if (!users.includes(user.username) || objectRef?.resource === undefined) return [];
        const { resource, subresource, namespace, name } = objectRef;
        return [{ verb, user: user.username, resource, subresource, namespace, name }];
      });
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  get #file(): string {
    return join(this.#directory, 'audit.log');
  }
}

/** An audit log for the tests of a file. Declare it before the server that writes it. */
export function auditLog(): AuditLog {
  const log = new AuditLog();
  beforeAll(() => log.make());
  afterAll(() => log.remove());
  return log;
}

/** Whether a request changes objects. */
export function isWrite({ verb }: AuditedRequest): boolean {
  return !['get', 'list', 'watch'].includes(verb);
}
