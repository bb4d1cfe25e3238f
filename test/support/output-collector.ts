import { copyFile, link, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigMap, HostedControlPlane, Pod, type Resource, Secret } from '../../constructs/api/resources.ts';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connect, loadKubeConfig } from '../../reconciler/kube/config.ts';
import { clientOf } from '../../reconciler/pki/kubeconfig.ts';
import type { SecretObject } from '../../reconciler/pki/secret.ts';
import { instanceFrom, kubeconfigPath } from '../tools/testbed/instance.ts';
import type { Needles } from './output-scan.ts';

const EventKind = { apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true } as const satisfies Resource;
const reported: readonly Resource[] = [EventKind, HostedControlPlane, ConfigMap, Pod];
/** Shorter than the lifetime of any object that holds a key; a shorter interval would take processor time from the tests. */
const periodMs = 10_000;
/** Public parts, and keys of Secrets whose value is not secret. */
const isSecret = (key: string) =>
  !/\.crt$|\.pub$|^(namespace|url|host|port|endpoint|region|bucket)$|description|usage|auth-extra/.test(key);

/**
 * Keeps what a testbed reports while tests run in it, even if objects are deleted meanwhile: events, statuses, ConfigMaps and
 * logs. The secrets that exist meanwhile become needles, in memory only.
 */
export class OutputCollector {
  readonly #testbed: string;
  readonly #directory: string;
  readonly #needles: Needles;
  readonly #stopping = new AbortController();
  readonly #work: Promise<void>;
  readonly #kept = new Set<string>();
  #numbers = 0;

  constructor(testbed: string, { directory, needles }: { readonly directory: string; readonly needles: Needles }) {
    this.#testbed = testbed;
    this.#directory = join(directory, testbed);
    this.#needles = needles;
    this.#work = this.#collect();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #collect(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      // there is no testbed yet, or none any more
      await this.#collectOnce().catch(() => {});
      await this.#copyLogs();
      await sleep(periodMs, undefined, { signal }).catch(() => {});
    }
  }

  async #collectOnce(): Promise<void> {
    const instance = instanceFrom(process.env, this.#testbed);
    const client = new KubeClient(await connect(loadKubeConfig(kubeconfigPath(instance))), { deadlineMs: 5_000 });
    try {
      const { items } = await client.list<SecretObject>(Secret);
      for (const secret of items) this.#learn(secret);
      for (const resource of reported) await this.#keep(resource.kind, (await client.list(resource)).items);
    } finally {
      await client.connection.close();
    }
  }

  #learn({ metadata, data = {} }: SecretObject): void {
    const secret = `Secret ${metadata.namespace}/${metadata.name}`;
    for (const [key, value] of Object.entries(data)) {
      if (!isSecret(key)) continue;
      const text = Buffer.from(value, 'base64');
      const client = key === 'value' ? clientOf(text.toString('utf8')) : undefined;
      this.#needles.add(`${key} of ${secret}`, client?.key ?? text);
    }
  }

  /** Each version once. */
  async #keep(kind: string, objects: readonly object[]): Promise<void> {
    const lines = objects.map((object) => JSON.stringify(object)).filter((line) => this.#isNew(line));
    if (lines.length === 0) return;
    await mkdir(this.#directory, { recursive: true });
    await writeFile(join(this.#directory, `${kind}-${this.#numbers++}.jsonl`), `${lines.join('\n')}\n`);
  }

  #isNew(line: string): boolean {
    const hash = createHash('sha1').update(line).digest('base64');
    if (this.#kept.has(hash)) return false;
    this.#kept.add(hash);
    return true;
  }

  /** Copied now, because the directory of a testbed is removed with it. */
  async #copyLogs(): Promise<void> {
    const { directory } = instanceFrom(process.env, this.#testbed);
    const machines = join(directory, 'machines');
    for (const machine of await namesIn(machines)) {
      // Next to them are the machine's disks, with every file of every image.
      for (const folder of [machine, join(machine, 'log')]) {
        const logs = (await namesIn(join(machines, folder))).filter((name) => name.endsWith('.log'));
        if (logs.length > 0) await mkdir(this.#directory, { recursive: true });
        for (const log of logs.map((name) => join(folder, name))) {
          await keepFile(join(machines, log), join(this.#directory, log.replaceAll('/', '_')));
        }
      }
    }
  }
}

function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}

/** A hard link also gets what is written later, at no cost; across file systems only copies are possible. */
async function keepFile(from: string, to: string): Promise<void> {
  // another machine may get the same name
  const { ino } = await stat(from).catch(() => ({ ino: undefined }));
  if (ino === undefined) return;
  const kept = `${to}.${ino}`;
  await link(from, kept).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EXDEV') await copyFile(from, kept).catch(() => {});
  });
}
