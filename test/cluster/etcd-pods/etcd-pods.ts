import type { PodObject } from '../../../imports/kubernetes.ts';
import { readdir } from 'node:fs/promises';
import { PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import type { EtcdStatus } from '../../../constructs/api/etcd-status.ts';
import { etcdPaths } from '../../../constructs/control-plane/etcd/config.ts';
import { until } from '../../support/until.ts';
import type { Workbench } from '../../support/workbench.ts';
import { damageText } from '../etcd/damage-text.ts';
import { processesOf } from './container-process.ts';

type StatusMember = NonNullable<EtcdStatus['members']>[number];

/** The etcd members of one control plane in the management cluster. */
export class EtcdPods {
  readonly #bench: Workbench;
  readonly #cluster: string;

  constructor(bench: Workbench, cluster: string) {
    this.#bench = bench;
    this.#cluster = cluster;
  }

  async members(): Promise<readonly StatusMember[]> {
    return (await this.#bench.get(this.#cluster)).status?.etcd?.members ?? [];
  }

  leader(): Promise<string> {
    return until('a leader in the status', async () => {
      return (await this.members()).find(({ role }) => role === 'Leader')?.name;
    });
  }

  follower(): Promise<string> {
    return until('a follower in the status', async () => {
      return (await this.members()).findLast(({ role }) => role === 'Follower')?.name;
    });
  }

  /** Resolves when the status has exactly this many members, one leader and followers, and the condition is True. */
  async untilMembers(count: number, limitMs = 120_000): Promise<void> {
    let last: EtcdStatus | undefined;
    await until(
      `${count} members in the status`,
      async () => {
        last = (await this.#bench.get(this.#cluster)).status?.etcd;
        const members = last?.members ?? [];
        const isVoter = ({ role }: StatusMember) => role === 'Leader' || role === 'Follower';
        return members.length === count && members.every(isVoter);
      },
      limitMs,
      () => last?.members,
    ).catch(async (cause: unknown) => {
      const { status } = await this.#bench.get(this.#cluster);
      const conditions = status?.conditions?.filter(({ type }) => type.startsWith('Etcd'));
      throw new Error(`${JSON.stringify(status?.etcd?.members)} ${JSON.stringify(conditions)}`, { cause });
    });
    await this.#bench.untilCondition(this.#cluster, 'EtcdClusterReady', { status: 'True' }, limitMs);
    await this.#bench.untilCondition(this.#cluster, 'EtcdClusterHealthy', { status: 'True' }, limitMs);
  }

  /** Does something to one of three members, and waits until another one has replaced it. */
  async untilReplaced(name: string, act: () => Promise<void>): Promise<void> {
    const before = (await this.members()).find((member) => member.name === name)?.id;
    await act();
    await until(
      'another member in its place',
      async () => {
        const member = (await this.members()).find((one) => one.name === name);
        return member?.id !== undefined && member.id !== before && member.role !== 'Learner';
      },
      180_000,
    );
    await this.untilMembers(3);
  }

  pod(name: string): Promise<PodObject> {
    return this.#bench.client.get<PodObject>(Pod, this.#named(name));
  }

  pods(): Promise<readonly PodObject[]> {
    return this.#bench.pods(this.#cluster, 'etcd');
  }

  async claims(): Promise<string[]> {
    const { items } = await this.#bench.client.list(PersistentVolumeClaim, { namespace: this.#bench.namespace });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  /** Deletes the volume claim of a member and its pod, as the removal of a node would. */
  async loseVolume(name: string): Promise<void> {
    await this.#bench.client.delete(PersistentVolumeClaim, this.#named(`etcd-data-${name}`));
    await this.#bench.client.delete(Pod, this.#named(name));
  }

  /** Kills the processes of members, as the OOM killer would. */
  async kill(...names: string[]): Promise<void> {
    const pids = await Promise.all(names.map((name) => this.#processOf(name)));
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  }

  /** Changes bytes of a member's write-ahead log, as a bad disk would, and kills it. */
  async damageLog(name: string): Promise<void> {
    const pid = await this.#processOf(name);
    const directory = `/proc/${pid}/root${etcdPaths.data}/member/wal`;
    const [log] = (await readdir(directory)).filter((file) => file.endsWith('.wal')).toSorted();
    await damageText(`${directory}/${log}`, '/registry/');
    process.kill(pid, 'SIGKILL');
  }

  /** Resolves when the container of a member was restarted, which the kubelet delays up to 5 minutes. */
  async untilRestarted(name: string, before: number): Promise<void> {
    await until(`${name} to be started again`, async () => (await this.restarts(name)) > before, 400_000);
  }

  /** How often the container of a member was restarted; zero without a pod. */
  async restarts(name: string): Promise<number> {
    const pod = await this.#bench.client.find<PodObject>(Pod, this.#named(name));
    return pod?.status?.containerStatuses?.[0]?.restartCount ?? 0;
  }

  async #processOf(name: string): Promise<number> {
    const [pid, ...others] = await processesOf((await this.pod(name)).metadata.uid ?? '', 'etcd');
    if (pid === undefined || others.length > 0)
      throw new Error(`${pid === undefined ? 'no process' : 'several processes'} of ${name} instead of one`);
    return pid;
  }

  #named(name: string) {
    return { namespace: this.#bench.namespace, name };
  }
}
