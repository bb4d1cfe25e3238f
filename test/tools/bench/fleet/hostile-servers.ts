import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import type { KeyPair } from '../../../../reconciler/pki/issue.ts';
import type { HostileAnswers, HostileCluster } from './world.ts';

/** A message to the process of the hostile servers. Connections come with the first kind. */
export type HostileRequest =
  | {
      readonly kind: 'take';
      readonly server: 'api' | 'etcd';
      readonly worksUntil: HostileCluster['worksUntil'];
      readonly pair: KeyPair;
      readonly member: { readonly name: string; readonly peerUrl: string };
    }
  /** Serve stores and token services. Stores at these addresses are patient. */
  | { readonly kind: 'serve'; readonly pair: KeyPair; readonly patientStores: readonly string[] }
  | { readonly kind: 'count' };

/**
 * All hostile servers, in a process of their own with less of the processor: what they send must not delay the honest ones, whose
 * answers are measured.
 */
export class HostileServers {
  readonly #child: ChildProcess;
  #clusters = new Map<string, HostileCluster>();

  /** @param snapshot path of what etcds answer that seem healthy */
  constructor(snapshot: string) {
    this.#child = fork(join(import.meta.dirname, 'hostile-process.ts'), [snapshot], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  /** What is hostile in a namespace; undefined for nothing. */
  in(namespace: string): HostileCluster | undefined {
    return this.#clusters.get(namespace);
  }

  poison(clusters: readonly HostileCluster[]): void {
    this.#clusters = new Map(clusters.map((cluster) => [cluster.namespace, cluster]));
  }

  serve(request: Omit<Extract<HostileRequest, { kind: 'serve' }>, 'kind'>): void {
    this.#child.send({ kind: 'serve', ...request } satisfies HostileRequest);
  }

  take(socket: Socket, request: Omit<Extract<HostileRequest, { kind: 'take' }>, 'kind'>): void {
    this.#child.send({ kind: 'take', ...request } satisfies HostileRequest, socket);
  }

  /** How many answers they have given. */
  async answers(): Promise<HostileAnswers> {
    this.#child.send({ kind: 'count' } satisfies HostileRequest);
    const [answers] = (await once(this.#child, 'message')) as [HostileAnswers];
    return answers;
  }
}
