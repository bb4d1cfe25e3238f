import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the processors of this machine did between two moments, in seconds. */
export interface ProcessorTime {
  readonly wallSeconds: number;
  readonly cores: number;
  /** Of all cores together, so at most `cores` times the wall time. */
  readonly busySeconds: number;
  /** Program to its core-seconds, the longest first; `ended unseen` is the time of processes that ended between two samples. */
  readonly byProgram: Readonly<Record<string, number>>;
}

/** Linux counts processor time in ticks of 10 ms on every architecture that Node runs on. */
const ticksPerSecond = 100;
/** A sample costs some milliseconds: processes with a shorter life are ended unseen. */
const periodMs = 2_000;

/** Names for core-seconds in the report, by the start of the kernel's name of a process; others keep theirs. */
const programs: readonly (readonly [prefix: string, program: string])[] = [
  ['kube-apiserver', 'kube-apiserver'],
  ['kube-controller', 'kube-controller-manager'],
  ['kube-scheduler', 'kube-scheduler'],
  ['kube-proxy', 'kube-proxy'],
  ['etcd', 'etcd'],
  ['kubelet', 'kubelet'],
  ['kubectl', 'kubectl'],
  ['kubeadm', 'kubeadm'],
  ['containerd', 'containerd'],
  ['runc', 'runc'],
  ['capi', 'cluster-api'],
  ['manager', 'cluster-api'],
  ['proxy-', 'konnectivity'],
  ['konnectivity', 'konnectivity'],
  ['coredns', 'coredns'],
  ['traefik', 'traefik'],
  ['versitygw', 'versitygw'],
  ['compile', 'go build'],
  ['link', 'go build'],
  ['asm', 'go build'],
  ['go', 'go build'],
  ['node', 'node'],
  ['MainThread', 'node'],
  ['vitest', 'node'],
];

/** Samples every process of the machine periodically, until it is stopped. */
export class ProcessorTimeRecorder {
  readonly #stopping = new AbortController();
  readonly #started = performance.now();
  /** Ticks of each process as last sampled; a pid alone may be reused. */
  readonly #seen = new Map<string, { readonly program: string; ticks: number }>();
  /** Ticks that processes had at the start. */
  readonly #before = new Map<string, number>();
  readonly #work: Promise<void>;
  #atStart: { readonly busy: number; readonly cores: number } = { busy: 0, cores: 0 };

  constructor() {
    this.#work = this.#record();
  }

  async stop(): Promise<ProcessorTime> {
    this.#stopping.abort();
    await this.#work;
    const { busy, cores } = await machineTicks();
    const busySeconds = (busy - this.#atStart.busy) / ticksPerSecond;
    const byProgram = new Map<string, number>();
    for (const [id, { program, ticks }] of this.#seen) {
      const own = (ticks - (this.#before.get(id) ?? 0)) / ticksPerSecond;
      byProgram.set(program, (byProgram.get(program) ?? 0) + own);
    }
    const seen = [...byProgram.values()].reduce((sum, own) => sum + own, 0);
    byProgram.set('ended unseen', Math.max(0, busySeconds - seen));
    return {
      wallSeconds: (performance.now() - this.#started) / 1000,
      cores,
      busySeconds,
      byProgram: Object.fromEntries([...byProgram].sort(([, one], [, other]) => other - one)),
    };
  }

  async #record(): Promise<void> {
    const { signal } = this.#stopping;
    this.#atStart = await machineTicks();
    this.#sample();
    for (const [id, { ticks }] of this.#seen) this.#before.set(id, ticks);
    while (!signal.aborted) {
      await sleep(periodMs, undefined, { signal }).catch(() => {});
      this.#sample();
    }
  }

  /** Reads synchronously: the kernel answers from memory, and hundreds of asynchronous reads cost more than their content. */
  #sample(): void {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      const found = processOf(statOf(pid));
      if (found) this.#seen.set(found.id, found);
    }
  }
}

/** Processor seconds of this process and the children it has waited for. */
export async function ownProcessorSeconds(): Promise<number> {
  const [user, system, childUser, childSystem] = fieldsOf(await readFile('/proc/self/stat', 'utf8')).slice(11, 15);
  return [user, system, childUser, childSystem].reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** Seconds that all processors of this machine together were busy since it started. */
export async function busyCoreSeconds(): Promise<number> {
  return (await machineTicks()).busy / ticksPerSecond;
}

/** The fields of a line of /proc/PID/stat; nothing for an invalid one. */
export function processOf(stat: string): { id: string; program: string; ticks: number } | undefined {
  if (stat === '') return undefined;
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  const fields = fieldsOf(stat);
  const id = `${stat.slice(0, stat.indexOf(' '))} ${fields[19]}`;
  const program = programs.find(([prefix]) => name.startsWith(prefix))?.[1] ?? name;
  return { id, program, ticks: Number(fields[11]) + Number(fields[12]) };
}

/** Nothing for a process that has ended since it was listed. */
function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** The fields from the third on: the second, a name, may contain spaces and parentheses. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function machineTicks(): Promise<{ busy: number; cores: number }> {
  const lines = (await readFile('/proc/stat', 'utf8')).split('\n').filter((line) => line.startsWith('cpu'));
  const ticks = (lines[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, iowait = 0] = ticks;
  return { busy: ticks.reduce((sum, each) => sum + each, 0) - idle - iowait, cores: lines.length - 1 };
}
