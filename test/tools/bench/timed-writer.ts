import { setTimeout } from 'node:timers/promises';
import { Etcd3 } from 'etcd3';
import type { EtcdCredentials, MemberEndpoint } from '../../../reconciler/etcd/etcd3-client.ts';

/** One write: its start, and the time until it was acknowledged, including retries. */
interface Write {
  readonly at: number;
  readonly ms: number;
}

/** The write interval of an API server with low load. */
const everyMs = 20;
const value = Buffer.alloc(1_000, 'x');

/** Writes keys at an address, as an API server does: on one connection until that breaks. */
export class TimedWriter {
  readonly #endpoint: MemberEndpoint;
  readonly #credentials: EtcdCredentials;
  readonly #writes: Write[] = [];
  #isStopped = false;
  readonly #work: Promise<void>;

  constructor(endpoint: MemberEndpoint, credentials: EtcdCredentials) {
    this.#endpoint = endpoint;
    this.#credentials = credentials;
    this.#work = this.#write();
  }

  /**
   * Durations of writes that were in progress between two instants, or were the next ones, in milliseconds. A blocked writer
   * does not start the writes that would follow: they count too, each with the remaining time.
   */
  between(from: number, to: number): number[] {
    return this.#writes
      .filter(({ at, ms }) => at + ms >= from && at <= to + everyMs)
      .flatMap(({ ms }) => Array.from({ length: Math.max(1, Math.ceil(ms / everyMs)) }, (_, n) => ms - n * everyMs));
  }

  /** Ends after the write in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
  }

  async #write(): Promise<void> {
    let etcd = this.#connect();
    for (let number = 0; !this.#isStopped; number += 1) {
      const at = performance.now();
      for (let isDone = false; !isDone && !this.#isStopped;) {
        try {
          await etcd.put(`/registry/configmaps/bench/${this.#endpoint.name}-${number % 1_000}`).value(value);
          isDone = true;
        } catch {
          // The library refuses calls for seconds after a failure; an API server retries.
          etcd.close();
          etcd = this.#connect();
          await setTimeout(10);
        }
      }
      this.#writes.push({ at, ms: performance.now() - at });
      await setTimeout(Math.max(0, everyMs - (performance.now() - at)));
    }
    etcd.close();
  }

  #connect(): Etcd3 {
    const { ca, cert, key } = this.#credentials;
    const { address, serverName } = this.#endpoint;
    return new Etcd3({
      hosts: `https://${address}`,
      credentials: { rootCertificate: Buffer.from(ca), certChain: Buffer.from(cert), privateKey: Buffer.from(key) },
      grpcOptions: { 'grpc.ssl_target_name_override': serverName },
      // Longer than any stall to be measured: a write that timed out would count as a short one.
      defaultCallOptions: () => ({ deadline: Date.now() + 60_000 }),
    });
  }
}
