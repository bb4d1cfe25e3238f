import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as resources from '../../../constructs/api/resources.ts';
import type { Condition, HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { emptyHostedCluster, MemoryCluster } from '../loop/memory-cluster.ts';
import { MemoryEtcd } from '../loop/memory-etcd.ts';
import { smallestSpec } from '../loop/scenario.ts';
import { operatorUser } from '../loop/shipped-rights.ts';
import { ManualClock } from '../manual-clock.ts';
import { MemoryApiServer } from '../memory-cluster/api-server.ts';
import { MemoryClient } from '../memory-cluster/client.ts';
import { ServedApi } from '../memory-cluster/served-api.ts';
import { clusterName, namespace } from '../scope.ts';
import { bundleProgram } from '../../tools/testbed/operator-bundle.ts';
import { until } from '../until.ts';
import type { Fault } from './faulty-operator.ts';

const faultyOperator = 'test/support/quarantine/faulty-operator.ts';
/** Less than the container's, so that an endless allocation ends soon. */
const heapMebibytes = 192;

/** How a process of the operator has ended. */
type End = string;

/**
 * Control planes without pods in a management cluster in memory, and the operator's program as a process, which is started again
 * whenever it ends. A fault is planted for the first one.
 */
export class AttendedFleet {
  /** How processes have ended by themselves. */
  readonly ends: End[] = [];
  readonly faulty: MemoryCluster;
  readonly #directory: string;
  readonly #server: Http2SecureServer;
  #child: ChildProcess | undefined;
  #isOver = false;
  #touches = 0;
  #round = 0;

  private constructor(faulty: MemoryCluster, directory: string, server: Http2SecureServer) {
    this.faulty = faulty;
    this.#directory = directory;
    this.#server = server;
  }

  static async start(others: number): Promise<AttendedFleet> {
    const management = new MemoryApiServer(Date.now);
    const clock = new ManualClock(Date.now());
    const faulty = new MemoryCluster(clock, management);
    await faulty.install();
    faulty.neighbours = Array.from({ length: others }, (_, index) => {
      const place = {
        cluster: clusterName.replace('1', String(index + 2)),
        namespace,
        address: `192.0.2.${index + 2}`,
      };
      return new MemoryCluster(clock, management, emptyHostedCluster(clock), new MemoryEtcd(), place);
    });
    for (const each of faulty.all) await each.order(smallestSpec);
    const directory = await mkdtemp(join(tmpdir(), 'quarantine-'));
    await bundleProgram(directory, faultyOperator);
    const server = await serve(management, join(directory, 'kubeconfig'));
    const fleet = new AttendedFleet(faulty, directory, server);
    fleet.#run();
    await fleet.untilAttended();
    return fleet;
  }

  /** Resolves when the operator has reconciled the newest spec of each, but not of the faulty one. */
  async untilAttended(): Promise<void> {
    for (const each of this.faulty.neighbours)
      await until('all to be reconciled', async () => isObserved(each), 60_000);
  }

  /** What is done for etcd of the faulty one from now on. */
  async plant(fault: Fault): Promise<void> {
    await writeFile(join(this.#directory, 'fault'), fault);
    // The loop of its etcd looks again.
    await this.touch(this.faulty);
    await this.faulty.change({ etcd: { replicas: 3 } });
  }

  async heal(): Promise<void> {
    await rm(join(this.#directory, 'fault'));
  }

  /** Ends the operator as a node does that crashes: what was noted is lost. */
  kill(): void {
    this.#round += 1;
    this.#child?.kill('SIGKILL');
  }

  /** Resolves when so many processes have begun to reconcile. */
  async untilLeading(processes: number): Promise<void> {
    const leading = async () => (await this.log()).split('"msg":"leading"').length > processes;
    await until('the operator to lead', leading, 60_000);
  }

  get quarantined(): Condition | undefined {
    return this.faulty.conditions.find(({ type }) => type === 'Quarantined');
  }

  /** Names of the others that are in quarantine, too. */
  get wronglyQuarantined(): readonly string[] {
    const isQuarantined = ({ conditions }: MemoryCluster) =>
      conditions.some(({ type, status }) => type === 'Quarantined' && status === 'True');
    return this.faulty.neighbours.filter(isQuarantined).map(({ name }) => name.name);
  }

  /** Changes the spec of one after the other while something happens. Resolves with the longest time until one was reconciled. */
  async latestDuring(happens: () => Promise<void>): Promise<number> {
    const over = new AbortController();
    const measured = this.#measure(over.signal);
    await happens().finally(() => over.abort());
    return measured;
  }

  async #measure(over: AbortSignal): Promise<number> {
    let latestMs = 0;
    for (let index = 0; !over.aborted; index++) {
      const other = this.faulty.neighbours[index % this.faulty.neighbours.length];
      if (!other) throw new Error('there are no others');
      const begun = performance.now();
      await this.touch(other);
      while (!isObserved(other)) await rest(20);
      latestMs = Math.max(latestMs, performance.now() - begun);
      await rest(50);
    }
    return latestMs;
  }

  /** Changes a field without effect. */
  async touch(each: MemoryCluster): Promise<void> {
    await each.change({ machineTemplate: { metadata: { labels: { touched: String((this.#touches += 1)) } } } });
  }

  /** The log of all processes. */
  log(): Promise<string> {
    return readFile(join(this.#directory, 'log'), 'utf8');
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const ended = new Promise((resolve) => this.#child?.once('exit', resolve));
    this.#child?.kill('SIGTERM');
    await ended;
    this.#server.close();
    await rm(this.#directory, { recursive: true });
  }

  /** As the kubelet does, without its back-off. */
  #run(): void {
    const notes = join(this.#directory, `notes-${this.#round}`);
    const env = {
      ...process.env,
      KUBECONFIG: join(this.#directory, 'kubeconfig'),
      LEADER_ELECTION: 'false',
      FAULT: join(this.#directory, 'fault'),
      FAULTY: clusterName,
      NODE_OPTIONS: '',
    };
    const args = [
      `--max-old-space-size=${heapMebibytes}`,
      join(this.#directory, 'main.js'),
      `--notes=${notes}`,
      '--health-port=0',
    ];
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd: this.#directory });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.on('data', (chunk: Buffer) => appendFileSync(join(this.#directory, 'log'), chunk));
    this.#child.once('exit', (code, signal) => {
      if (this.#isOver) return;
      this.ends.push(String(signal ?? code));
      this.#run();
    });
  }
}

function isObserved({ hostedControlPlane: { metadata, status } }: MemoryCluster): boolean {
  const { observedGeneration = 0 } = (status ?? {}) as Partial<HostedControlPlaneStatus>;
  return observedGeneration >= (metadata.generation ?? 0);
}

/** Serves it to the operator, with the rights of the operator. */
async function serve(management: MemoryApiServer, kubeconfig: string): Promise<Http2SecureServer> {
  const validity = validFor(3_600_000, new Date());
  const ca = await createCA({ commonName: 'test' }, validity);
  const plan = { commonName: 'server', organizations: [], usages: ['server'], hosts: ['127.0.0.1'] } as const;
  const { certificate: cert, key } = await issueCertificate(plan, ca, validity);
  const client = new MemoryClient(management, operatorUser(), { paths: { '/version': () => '{}' } });
  const all = Object.values(resources).filter((one) => typeof one === 'object' && 'plural' in one);
  const api = new ServedApi({ client, resources: all });
  const server = createSecureServer({ cert, key }, (request, response) => void api.answer(request, response));
  server.on('session', (session) => session.on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = `https://127.0.0.1:${port}`;
  const cluster = { server: at, 'certificate-authority-data': Buffer.from(ca.certificate).toString('base64') };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: { token: 'unused' } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    }),
  );
  return server;
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
