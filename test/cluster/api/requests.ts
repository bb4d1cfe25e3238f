import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';

/** The API server's answer; a refusal is an answer too. */
export interface Answer {
  readonly code: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** One reason of a refusal. */
export interface Cause {
  readonly field: string;
  readonly message: string;
}

export interface Body {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly content?: unknown;
  /** Server-side apply with this manager; otherwise a PATCH is a merge patch. */
  readonly applyAs?: string;
}

/** Plain requests to an API server, so that tests get the raw answers. */
export class Requests {
  readonly #server: string;
  readonly #agent: Agent;

  constructor(kubeconfig: string) {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const [cluster, user] = [config.getCurrentCluster(), config.getCurrentUser()];
    if (!cluster || !user) throw new Error(`the kubeconfig ${kubeconfig} has no current context`);
    this.#server = cluster.server;
    this.#agent = new Agent({
      connect: { ca: pem(cluster.caData), cert: pem(user.certData), key: pem(user.keyData) },
    });
  }

  async get(path: string, accept = 'application/json'): Promise<Answer> {
    return this.#send(path, { method: 'GET', headers: { accept } });
  }

  async send(path: string, { method, content, applyAs }: Body): Promise<Answer> {
    const patchType = applyAs ? 'application/apply-patch+yaml' : 'application/merge-patch+json';
    const url = new URL(path, this.#server);
    url.searchParams.set('fieldValidation', 'Strict');
    if (applyAs) {
      url.searchParams.set('fieldManager', applyAs);
      url.searchParams.set('force', 'true');
    }
    return this.#send(`${url.pathname}${url.search}`, {
      method,
      headers: { 'content-type': method === 'PATCH' ? patchType : 'application/json' },
      ...(content !== undefined && { body: JSON.stringify(content) }),
    });
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  async #send(path: string, options: Parameters<typeof request>[1]): Promise<Answer> {
    const { statusCode, body } = await request(new URL(path, this.#server), { ...options, dispatcher: this.#agent });
    const parsed: unknown = await body.json();
    return { code: statusCode, body: isRecord(parsed) ? parsed : {} };
  }
}

/** Code and reasons of a refusal, with paths as the parser writes them: the server puts the keys of maps in brackets. */
export function refusalOf({ code, body }: Answer): { code: number; causes: Cause[] } {
  const details = isRecord(body['details']) ? body['details'] : {};
  const given = Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : [];
  const causes = given.map(({ field, message }) => ({
    field: String(field).replaceAll(/\[([^\]\d][^\]]*)\]/g, '.$1'),
    message: String(message),
  }));
  return { code, causes };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pem(data: string | undefined): string | undefined {
  return data && Buffer.from(data, 'base64').toString();
}
