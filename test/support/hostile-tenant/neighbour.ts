import { Namespace, Secret } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import { installAddon } from '../../tools/testbed/addons.ts';
import type { Instance } from '../../tools/testbed/instance.ts';
import { objectStoreCredentials } from '../../tools/testbed/object-store.ts';
import { ContinuousUser } from '../continuous-user.ts';
import { encodedData } from '../../../reconciler/pki/secret.ts';
import { single, type Workbench } from '../workbench.ts';

const cluster = 'good';
const minuteMs = 60_000;

/** The backups of each minute, which are not restored. */
const backup = { schedule: '* * * * *', secret: { name: 'backups' }, verify: { disabled: true } };

/** A control plane of somebody else, whose users never stop, and which is backed up each minute. */
export class Neighbour extends ContinuousUser {
  readonly bench: Workbench;
  readonly cluster = cluster;
  /** What was wrong with it, and when. */
  readonly faults: string[] = [];
  /** When its backups were begun, in milliseconds since the epoch. */
  readonly #backups = new Set<number>();
  #hosted: KubeClient | undefined;

  private constructor(bench: Workbench) {
    super();
    this.bench = bench;
  }

  /** Resolves when it works in its namespace, and has its first backup. */
  static async settle(instance: Instance, bench: Workbench): Promise<Neighbour> {
    await installAddon(instance, 's3', () => {});
    const neighbour = new Neighbour(bench);
    const { namespace } = bench;
    const { apiVersion, kind } = Secret;
    const data = encodedData({ ...(await objectStoreCredentials(instance)) });
    const metadata = { namespace, name: backup.secret.name };
    await bench.client.create({ apiVersion, kind, metadata, data }, { fieldManager: 'test' });
    await bench.create(cluster, { ...single, etcd: { replicas: 1, backup } });
    await bench.untilRolledOut(cluster);
    neighbour.#hosted = await bench.hosted(cluster);
    await bench.untilCondition(cluster, 'EtcdBackupReady', { status: 'True' });
    neighbour.begin(500, () => neighbour.#look());
    return neighbour;
  }

  /** The full minutes of a time for which no backup has begun so soon. */
  minutesWithout(from: number, to: number, soonMs: number): string[] {
    const first = Math.ceil(from / minuteMs) * minuteMs;
    const minutes = Array.from({ length: Math.max(0, Math.ceil((to - soonMs - first) / minuteMs)) }, (_, index) => {
      return first + index * minuteMs;
    });
    const hasBackup = (due: number) => [...this.#backups].some((at) => at >= due && at <= due + soonMs);
    return minutes.filter((due) => !hasBackup(due)).map((due) => new Date(due).toISOString());
  }

  get backups(): number {
    return this.#backups.size;
  }

  /** Its users leave. */
  override async stop(): Promise<void> {
    try {
      await super.stop();
    } finally {
      await this.#hosted?.connection.close();
    }
  }

  async #look(): Promise<void> {
    const at = new Date().toISOString();
    // Once more on another connection: an API server that a rollout replaces ends its own.
    const answer = await this.#ask().catch(() => this.#ask().catch((error: unknown) => String(error)));
    if (answer !== undefined) this.faults.push(`${at} its API server: ${answer}`);
    const { status } = await this.bench.get(cluster);
    const available = status?.conditions?.find(({ type }) => type === 'Available');
    if (available?.status !== 'True') this.faults.push(`${at} ${available?.reason}: ${available?.message}`);
    const { etcdLastBackupTime } = (status ?? {}) as { readonly etcdLastBackupTime?: string };
    if (etcdLastBackupTime !== undefined) this.#backups.add(Date.parse(etcdLastBackupTime));
  }

  async #ask(): Promise<undefined> {
    await this.#hosted?.get(Namespace, { name: 'default' });
  }
}
