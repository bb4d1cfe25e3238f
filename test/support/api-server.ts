import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { connectionFor, type ConnectionTarget } from '../../reconciler/kube/config.ts';
import {
  createAuthority,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../reconciler/pki/issue.ts';
import { findBinaries, type Binaries } from '../testbed/binaries.ts';
import { instanceFrom } from '../testbed/instance.ts';
import { run } from '../testbed/run.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const serverName = 'kubernetes.default.svc';

/** How an administrator reaches an API server, and what makes others who may. */
export interface AdministratorTarget extends ConnectionTarget {
  readonly serverName: string;
  readonly authority: KeyPair;
}

interface Ports {
  readonly apiServer: number;
  readonly etcd: number;
  readonly peer: number;
}

/**
 * Starts both processes and resolves when the API server is ready, in about four seconds.
 * @param flags more flags of the API server, with their dashes
 */
export async function startApiServer(flags: readonly string[] = []): Promise<ApiServer> {
  const binaries = await findBinaries(instanceFrom(process.env).cache, process.env['HCP_TESTBED_BIN'], () => {});
  const directory = await mkdtemp(join(tmpdir(), 'api-server-'));
  const ports = { apiServer: await freePort(), etcd: await freePort(), peer: await freePort() };
  const target = await writeCredentials(directory, ports.apiServer);
  const server = new ApiServer(binaries, directory, ports, target, flags);
  server.startEtcd();
  await server.startApiServer();
  return server;
}

/** An API server with an etcd of its own, as two processes on loopback ports: for tests that hurt it. */
export class ApiServer {
  /** How an administrator reaches it. */
  readonly target: AdministratorTarget;
  /** Path of a file that says the same. */
  readonly kubeconfig: string;
  readonly #binaries: Binaries;
  readonly #directory: string;
  readonly #ports: Ports;
  readonly #flags: readonly string[];
  #etcd: ChildProcess | undefined;
  #apiServer: ChildProcess | undefined;

  constructor(
    binaries: Binaries,
    directory: string,
    ports: Ports,
    target: AdministratorTarget,
    flags: readonly string[],
  ) {
    this.#binaries = binaries;
    this.#directory = directory;
    this.#ports = ports;
    this.#flags = flags;
    this.target = target;
    this.kubeconfig = join(directory, 'kubeconfig');
  }

  /** Starts the API server after a kill, on the same port and data. */
  async startApiServer(): Promise<void> {
    const file = (name: string): string => join(this.#directory, name);
    this.#apiServer = this.#spawn('kube-apiserver', [
      `--secure-port=${this.#ports.apiServer}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--etcd-servers=http://127.0.0.1:${this.#ports.etcd}`,
      `--tls-cert-file=${file('server.crt')}`,
      `--tls-private-key-file=${file('server.key')}`,
      `--client-ca-file=${file('ca.crt')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${file('sa.pub')}`,
      `--service-account-signing-key-file=${file('sa.key')}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--authorization-mode=RBAC',
      // Nobody makes default ServiceAccounts here; Pods need none to be stored.
      '--disable-admission-plugins=ServiceAccount',
      ...this.#flags,
    ]);
    const client = new KubeClient(connectionFor(this.target), { deadlineMs: 2_000 });
    await until('the API server to be ready', () => client.raw('/readyz').catch(() => false), 60_000);
    await client.connection.close();
  }

  /** The TCP port of the API server, to put a proxy in front of it. */
  get port(): number {
    return this.#ports.apiServer;
  }

  /** Kills the API server as a power cut would. Its etcd goes on. */
  async killApiServer(): Promise<void> {
    await killed(this.#apiServer);
  }

  /** Makes etcd forget all versions before the present one. */
  async compact(): Promise<void> {
    const etcdctl = [this.#binary('etcdctl'), `--endpoints=http://127.0.0.1:${this.#ports.etcd}`] as const;
    const status = await run([...etcdctl, 'endpoint', 'status', '--write-out=fields']);
    const revision = /"Revision" : (\d+)/.exec(status)?.[1];
    if (!revision) throw new Error(`no revision in: ${status}`);
    await run([...etcdctl, 'compact', revision]);
  }

  /** Kills both and removes what they wrote. */
  async stop(): Promise<void> {
    await killed(this.#apiServer);
    await killed(this.#etcd);
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Starts etcd; the API server waits for it by itself. */
  startEtcd(): void {
    const [client, peer] = [`http://127.0.0.1:${this.#ports.etcd}`, `http://127.0.0.1:${this.#ports.peer}`];
    this.#etcd = this.#spawn('etcd', [
      `--data-dir=${join(this.#directory, 'etcd')}`,
      '--unsafe-no-fsync',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ]);
  }

  #spawn(name: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(this.#directory, `${name}.log`), 'a');
    return spawn(this.#binary(name), args, { stdio: ['ignore', log, log] });
  }

  #binary(name: string): string {
    const path = this.#binaries[name];
    if (!path) throw new Error(`the testbed has no binary ${name}`);
    return path;
  }
}

async function writeCredentials(directory: string, port: number): Promise<AdministratorTarget> {
  const validity = validFor(24 * 60 * 60_000, new Date());
  const authority = await createAuthority({ commonName: 'kubernetes' }, validity);
  const hosts = ['127.0.0.1', serverName];
  const server = await issueCertificate(
    { commonName: 'kube-apiserver', organizations: [], usages: ['server'], hosts },
    authority,
    validity,
  );
  const admin = await issueCertificate(
    { commonName: 'admin', organizations: ['system:masters'], usages: ['client'], hosts: [] },
    authority,
    validity,
  );
  const url = `https://127.0.0.1:${port}`;
  const serviceAccount = createServiceAccountKey();
  const files = {
    'ca.crt': authority.certificate,
    'server.crt': server.certificate,
    'server.key': server.key,
    'sa.pub': serviceAccount.certificate,
    'sa.key': serviceAccount.key,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  const { certificate: cert, key } = admin;
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromClusterAndUser(
    { name: 'test', server: url, caData: base64(authority.certificate), skipTLSVerify: false },
    { name: 'admin', certData: base64(cert), keyData: base64(key) },
  );
  await writeFile(join(directory, 'kubeconfig'), kubeconfig.exportConfig());
  return { server: url, serverName, ca: authority.certificate, cert, key, authority };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function killed(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}
