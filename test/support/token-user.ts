import type { SecretObject } from '../../imports/kubernetes.ts';
import { request } from 'undici';
import { z } from 'zod';
import { Secret } from '../../constructs/api/resources.ts';
import { apiServiceHost } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { type Connection, connectionFor, type ConnectionTarget } from '../../reconciler/kube/config.ts';
import { kubeErrorOf } from '../../reconciler/kube/errors.ts';
import { isReady } from '../../reconciler/kube/readiness.ts';
import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { pairOf } from '../../reconciler/pki/secret.ts';
import { ContinuousUser } from './continuous-user.ts';
import type { Workbench } from './workbench.ts';

/** Often enough to meet every state of a rotation, and seldom enough to leave the processor time to it. */
const restMs = 300;

/** A token as it was issued. */
export interface GivenToken {
  readonly token: string;
  readonly lifetimeSeconds: number;
}

const Answer = z.object({ status: z.object({ token: z.string() }) });
const Claims = z.object({ iat: z.number(), exp: z.number().optional() });

/** Uses service account tokens at every API server of a hosted cluster, by the addresses of their pods, while the keys rotate. */
export class TokenUser extends ContinuousUser {
  readonly #bench: Workbench;
  readonly #cluster: string;
  readonly #tokens = new Map<string, string>();
  readonly #refused: string[] = [];
  #known: Promise<KeyPair> | undefined;
  #used = 0;
  #unanswered = 0;

  constructor(bench: Workbench, cluster: string) {
    super();
    this.#bench = bench;
    this.#cluster = cluster;
    this.begin(restMs, () => this.#use());
  }

  /** How often a token was accepted. */
  get used(): number {
    return this.#used;
  }

  /** Uses without an answer, such as by an API server that was just stopped. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Names of tokens that an API server has refused. */
  get refused(): readonly string[] {
    return this.#refused;
  }

  get count(): number {
    return this.#tokens.size;
  }

  /** From now on this token is used too. */
  add(name: string, token: string): void {
    this.#tokens.set(name, token);
  }

  /** From now on none of these is used any more. */
  drop(isDropped: (name: string) => boolean): void {
    for (const name of this.#tokens.keys()) if (isDropped(name)) this.#tokens.delete(name);
  }

  /** Addresses of the running API servers. */
  async addresses(): Promise<string[]> {
    const pods = await this.#bench.pods(this.#cluster, 'api-server');
    return pods
      .filter((pod) => isReady(pod) && !pod.metadata.deletionTimestamp)
      .flatMap(({ status }) => status?.podIP ?? []);
  }

  /** A new token of ServiceAccount default, signed by the API server with this address. */
  async ask(address: string, spec: object = {}): Promise<GivenToken> {
    return this.#asAdministrator(address, async (connection) => {
      const answer = await request(`${connection.baseUrl}/api/v1/namespaces/default/serviceaccounts/default/token`, {
        method: 'POST',
        dispatcher: connection.dispatcher(),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }),
      });
      const { token } = Answer.parse(await answer.body.json()).status;
      const { iat, exp = Infinity } = Claims.parse(
        JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')),
      );
      return { token, lifetimeSeconds: exp - iat };
    });
  }

  /** Whether the API server with this address accepts a token. @throws when it does not answer */
  async accepts(address: string, token: string): Promise<boolean> {
    const connection = await this.#connect(address, { token });
    try {
      await new KubeClient(connection, { deadlineMs: 5_000 }).raw('/version');
      return true;
    } catch (error) {
      if (kubeErrorOf(error)?.code === 401) return false;
      throw error;
    } finally {
      await connection.close();
    }
  }

  async #use(): Promise<void> {
    for (const [name, token] of this.#tokens) {
      // read for each round: a deleted pod does not answer, and the loop would spend all its time on timeouts
      const addresses = await this.addresses().catch(() => []);
      await Promise.all(addresses.map((address) => this.#useOne(address, name, token)));
    }
  }

  async #useOne(address: string, name: string, token: string): Promise<void> {
    try {
      if (await this.accepts(address, token)) this.#used += 1;
      // A token that was dropped meanwhile is no longer checked.
      else if (this.#tokens.get(name) === token) this.#refused.push(`${name} at ${address}`);
    } catch {
      this.#unanswered += 1;
    }
  }

  async #asAdministrator<T>(address: string, work: (connection: Connection) => Promise<T>): Promise<T> {
    const certificateAuthority = await this.#certificateAuthority();
    const { certificate: cert, key } = await issueCertificate(
      administrator,
      certificateAuthority,
      validFor(hourMs, new Date()),
    );
    const connection = await this.#connect(address, { cert, key });
    try {
      return await work(connection);
    } finally {
      await connection.close();
    }
  }

  async #connect(address: string, as: Pick<ConnectionTarget, 'cert' | 'key' | 'token'>): Promise<Connection> {
    const { certificate: ca } = await this.#certificateAuthority();
    const serverName = apiServiceHost({ name: this.#cluster, namespace: this.#bench.namespace });
    return connectionFor({ server: `https://${address}:${ports.api}`, serverName, ca, ...as });
  }

  /** Read once, because it does not change. */
  #certificateAuthority(): Promise<KeyPair> {
    return (this.#known ??= this.#readCA());
  }

  async #readCA(): Promise<KeyPair> {
    const { client, namespace } = this.#bench;
    const name = namesOf(this.#cluster).secrets.clusterCA;
    const pair = pairOf(await client.get<SecretObject>(Secret, { namespace, name }));
    if (!pair) throw new Error(`Secret ${name} holds no CA`);
    return pair;
  }
}

const administrator = { commonName: 'test', organizations: ['system:masters'], usages: ['client'], hosts: [] } as const;
const hourMs = 3600_000;
