import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  mallocSettings,
  managerEnvironment,
  nodeOptions,
  nodeOptionsForSpeed,
} from '../../../../constructs/provider/operator.ts';
import { ChildProgram } from '../../../support/child-program.ts';
import { freePort } from '../../../support/free-port.ts';
import { until } from '../../../support/until.ts';
import { nodeFlags } from '../../testbed/operator-image.ts';
import { type LoopStalls, stallsIn, watchingModule } from './loop-stalls.ts';

const node = join(import.meta.dirname, '../../../../node_modules/.bin/node');
/** Of times in `/proc`, on every Linux. */
const ticksPerSecond = 100;

/** Requests and reconciles of the operator since its start. */
export interface OperatorRequests {
  readonly reads: number;
  readonly writes: number;
  /** To hosted clusters, and those of them that are writes. */
  readonly hosted: number;
  readonly hostedWrites: number;
  readonly reconciles: number;
  /** Control planes that wait for a worker now. */
  readonly waiting: number;
}

export interface OperatorOptions {
  readonly directory: string;
  readonly kubeconfig: string;
  /** The processor that it may use. */
  readonly core: number;
  /** Its setting of that name. */
  readonly optimizeFor: string;
  /** Flags of Node besides those of its Deployment. */
  readonly flags?: readonly string[] | undefined;
  /** Namespace of its lease. Without leader election its requests are those of clusters. @default none */
  readonly leaseNamespace?: string | undefined;
  /** How long its event loop stands still is measured. */
  readonly watchesLoop?: boolean;
}

/** The operator as it is installed: its bundle with the settings of its Deployment, in a process of its own. */
export class OperatorProcess {
  readonly #program: ChildProgram;
  readonly #healthPort: number;
  readonly #metricsPort: number;
  readonly #stallsFile: string;

  private constructor(program: ChildProgram, healthPort: number, metricsPort: number, stallsFile: string) {
    this.#stallsFile = stallsFile;
    this.#program = program;
    this.#healthPort = healthPort;
    this.#metricsPort = metricsPort;
  }

  /** Starts it, and resolves when its caches are filled. */
  static async start({
    directory,
    kubeconfig,
    core,
    optimizeFor,
    flags = [],
    leaseNamespace,
    watchesLoop = false,
  }: OperatorOptions): Promise<OperatorProcess> {
    const [healthPort, metricsPort] = [await freePort(), await freePort()];
    const ours = [`--health-port=${healthPort}`, `--metrics-port=${metricsPort}`];
    const stallsFile = join(directory, `stalls-${healthPort}.json`);
    const nodeOwn = [...nodeFlags, ...flags, ...(watchesLoop ? ['--import', watchingModule(stallsFile)] : [])];
    const command = ['--cpu-list', String(core), node, ...nodeOwn, join(directory, 'main.js'), ...ours];
    const env = {
      ...process.env,
      ...managerEnvironment,
      NODE_OPTIONS: optimizeFor === 'speed' ? nodeOptionsForSpeed : nodeOptions,
      ...mallocSettings,
      OPTIMIZE_FOR: optimizeFor,
      ...(leaseNamespace === undefined ? { LEADER_ELECTION: 'false' } : { CONTROLLER_NAMESPACE: leaseNamespace }),
      KUBECONFIG: kubeconfig,
    };
    const program = new ChildProgram('taskset', command, { log: join(directory, 'operator.log'), env });
    const operator = new OperatorProcess(program, healthPort, metricsPort, stallsFile);
    await until('the operator to have filled its caches', () => operator.#isReady(), 300_000);
    return operator;
  }

  /** Whether it has not ended. */
  get isRunning(): boolean {
    return this.#program.isRunning;
  }

  /** Ends it as a node does that is drained. */
  async stop(): Promise<void> {
    await this.#program.end('SIGTERM');
  }

  /** Milliseconds until it has answered that it lives, or has ended. */
  async answerMs(): Promise<number> {
    const start = performance.now();
    await fetch(`http://127.0.0.1:${this.#healthPort}/healthz`)
      .then((answer) => answer.text())
      .catch(() => {});
    return performance.now() - start;
  }

  /** Resident memory in bytes, now and at its highest. */
  async memory(): Promise<{ readonly now: number; readonly peak: number }> {
    const status = await readFile(`/proc/${this.#program.pid}/status`, 'utf8');
    const kibibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
    return { now: kibibytes('VmRSS') * 1024, peak: kibibytes('VmHWM') * 1024 };
  }

  /** How long its event loop stood still, but in its last second. */
  stalls(): Promise<LoopStalls> {
    return stallsIn(this.#stallsFile);
  }

  /** Seconds of a processor since its start. */
  async processorSeconds(): Promise<number> {
    const fields = (await readFile(`/proc/${this.#program.pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  }

  async requests(): Promise<OperatorRequests> {
    const lines = (await this.#metrics()).split('\n');
    const sum = (pattern: RegExp) =>
      lines.filter((line) => pattern.test(line)).reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    const read = 'verb="(get|list|watch|check)"';
    const reads = sum(new RegExp(`_api_requests_total\\{.*cluster="management",${read}`));
    const hosted = sum(/_api_requests_total\{.*cluster="hosted"/);
    return {
      reads,
      writes: sum(/_api_requests_total\{.*cluster="management"/) - reads,
      hosted,
      hostedWrites: hosted - sum(new RegExp(`_api_requests_total\\{.*cluster="hosted",${read}`)),
      reconciles: sum(/_reconcile_duration_seconds_count\{/),
      waiting: sum(/^\w+_workqueue_depth /),
    };
  }

  /** How long one scrape of the metrics takes, and how long its answer is. */
  async scrape(): Promise<{ readonly ms: number; readonly bytes: number }> {
    const start = performance.now();
    const { length } = await this.#metrics();
    return { ms: performance.now() - start, bytes: length };
  }

  async #metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
  }

  async #isReady(): Promise<boolean> {
    if (!this.#program.isRunning) throw new Error('the operator has ended: its log is operator.log');
    const answer = await fetch(`http://127.0.0.1:${this.#healthPort}/readyz`).catch(() => undefined);
    return answer?.ok ?? false;
  }
}
