import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { KubeClient } from '../../reconciler/kube/client.ts';
import { type Connection, connectionFor, type ConnectionTarget } from '../../reconciler/kube/config.ts';
import {
  createCA,
  createServiceAccountKey,
  issueCertificate,
  type KeyPair,
  validFor,
} from '../../reconciler/pki/issue.ts';
import { findBinaries, findFurtherBinaries, type Binaries } from '../tools/testbed/binaries.ts';
import { familiesOf, pinnedMinors } from '../tools/testbed/families.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { run } from '../tools/testbed/run.ts';
import { ChildProgram } from './child-program.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

const serverName = 'kubernetes.default.svc';

/** How an administrator connects to an API server, and the CA that issues credentials for others. */
export interface AdministratorTarget extends ConnectionTarget {
  readonly serverName: string;
  readonly certificateAuthority: KeyPair;
}

interface Ports {
  readonly apiServer: number;
  readonly etcd: number;
  readonly peer: number;
}

/** Location of its files and its ports, available once it is started. */
interface Place {
  readonly binaries: Binaries;
  readonly directory: string;
  readonly ports: Ports;
  readonly target: AdministratorTarget;
  readonly connection: Connection;
}

/**
 * Starts both processes and resolves when the API server is ready, in about four seconds.
 * @param minor such as `1.35`; the newest one by default
 */
export async function startApiServer(flags: readonly string[] = [], minor?: string): Promise<ApiServer> {
  const server = new ApiServer(flags, minor);
  await server.start();
  return server;
}

/** An API server with its own etcd, as two processes on loopback ports, for tests that disturb or kill it. */
export class ApiServer {
  /** The administrator's client. It is available at once, usable from when the server starts, and closed with it. */
  readonly client = new KubeClient(lateConnection(() => this.#started.connection));
  readonly #flags: readonly string[];
  readonly #minor: string | undefined;
  #place: Place | undefined;
  #etcd: ChildProgram | undefined;
  #apiServer: ChildProgram | undefined;

  /** @param flags additional flags of the API server, with their dashes */
  constructor(flags: readonly string[] = [], minor?: string) {
    this.#flags = flags;
    this.#minor = minor;
  }

  async start(): Promise<void> {
    const { cache } = instanceFrom(process.env);
    const folders = this.#minor === undefined ? undefined : pinnedMinors[this.#minor];
    const binaries = {
      ...(await findBinaries(cache, process.env['HCP_TESTBED_BIN'], () => {})),
      ...(folders ? await findFurtherBinaries(familiesOf(folders, { serversOnly: true }), cache, () => {}) : {}),
    };
    const directory = await mkdtemp(join(tmpdir(), 'api-server-'));
    const ports = { apiServer: await freePort(), etcd: await freePort(), peer: await freePort() };
    const target = await writeCredentials(directory, ports.apiServer);
    this.#place = { binaries, directory, ports, target, connection: connectionFor(target) };
    this.startEtcd();
    await this.startApiServer();
  }

  /** How an administrator connects to it. */
  get target(): AdministratorTarget {
    return this.#started.target;
  }

  /** Path of a kubeconfig for the administrator. */
  get kubeconfig(): string {
    return join(this.#started.directory, 'kubeconfig');
  }

  /** Starts the API server again after a kill, on the same port and data. */
  async startApiServer(): Promise<void> {
    const { directory, ports, target } = this.#started;
    const file = (name: string): string => join(directory, name);
    this.#apiServer = this.#spawn('kube-apiserver', [
      `--secure-port=${ports.apiServer}`,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      `--tls-cert-file=${file('server.crt')}`,
      `--tls-private-key-file=${file('server.key')}`,
      `--client-ca-file=${file('ca.crt')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${file('sa.pub')}`,
      `--service-account-signing-key-file=${file('sa.key')}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--authorization-mode=RBAC',
      // No controller creates default ServiceAccounts here; Pods are stored without one.
      '--disable-admission-plugins=ServiceAccount',
      ...this.#flags,
    ]);
    const client = new KubeClient(connectionFor(target), { deadlineMs: 2_000 });
    await until('the API server to be ready', () => client.raw('/readyz').catch(() => false), 60_000);
    await client.connection.close();
  }

  /** The TCP port of the API server, to put a proxy in front of it. */
  get port(): number {
    return this.#started.ports.apiServer;
  }

  /** Kills the API server with SIGKILL. Its etcd keeps running. */
  async killApiServer(): Promise<void> {
    await this.#apiServer?.end();
  }

  /** Its process, to pause it. */
  get apiServer(): Pick<ChildProgram, 'pause' | 'resume'> {
    if (!this.#apiServer) throw new Error('the API server is not started yet');
    return this.#apiServer;
  }

  /** Its etcd, to pause it. */
  get etcd(): Pick<ChildProgram, 'pause' | 'resume'> {
    if (!this.#etcd) throw new Error('etcd is not started yet');
    return this.#etcd;
  }

  /** Compacts etcd: all revisions before the current one are dropped. */
  async compact(): Promise<void> {
    const etcdctl = [this.#binary('etcdctl'), `--endpoints=http://127.0.0.1:${this.#started.ports.etcd}`] as const;
    const status = await run([...etcdctl, 'endpoint', 'status', '--write-out=fields']);
    const revision = /"Revision" : (\d+)/.exec(status)?.[1];
    if (!revision) throw new Error(`no revision in: ${status}`);
    await run([...etcdctl, 'compact', revision]);
  }

  /** Saves a snapshot of etcd with its hash, and returns its path. */
  async saveSnapshot(): Promise<string> {
    const { directory, ports } = this.#started;
    const path = join(directory, 'snapshot');
    await run([this.#binary('etcdctl'), `--endpoints=http://127.0.0.1:${ports.etcd}`, 'snapshot', 'save', path]);
    return path;
  }

  /** Saves etcd's data. Returns a function that goes back to it, with the old versions, and starts both processes again. */
  async backUp(): Promise<() => Promise<void>> {
    const { directory, ports } = this.#started;
    const data = join(directory, 'etcd');
    const snapshot = await this.saveSnapshot();
    return async () => {
      await this.#apiServer?.end();
      await this.#etcd?.end();
      await rm(data, { recursive: true });
      const peer = `http://127.0.0.1:${ports.peer}`;
      const cluster = [`--initial-cluster=default=${peer}`, `--initial-advertise-peer-urls=${peer}`];
      await run([this.#binary('etcdutl'), 'snapshot', 'restore', snapshot, `--data-dir=${data}`, ...cluster]);
      this.startEtcd();
      await this.startApiServer();
    };
  }

  /** Kills both processes and removes their files. */
  async stop(): Promise<void> {
    await this.#place?.connection.close();
    await this.#apiServer?.end();
    await this.#etcd?.end();
    if (this.#place) await rm(this.#place.directory, { recursive: true, force: true });
  }

  /** Starts etcd. The API server waits for etcd itself. */
  startEtcd(): void {
    const { directory, ports } = this.#started;
    const [client, peer] = [`http://127.0.0.1:${ports.etcd}`, `http://127.0.0.1:${ports.peer}`];
    this.#etcd = this.#spawn('etcd', [
      `--data-dir=${join(directory, 'etcd')}`,
      '--unsafe-no-fsync',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ]);
  }

  get #started(): Place {
    if (!this.#place) throw new Error('the API server is not started yet');
    return this.#place;
  }

  #spawn(name: string, args: readonly string[]): ChildProgram {
    return new ChildProgram(this.#binary(name), args, { log: join(this.#started.directory, `${name}.log`) });
  }

  #binary(name: string): string {
    const path = this.#started.binaries[name];
    if (!path) throw new Error(`the testbed has no binary ${name}`);
    return path;
  }
}

/** A connection that is only available later. */
function lateConnection(connection: () => Connection): Connection {
  return {
    get baseUrl() {
      return connection().baseUrl;
    },
    get namespace() {
      return connection().namespace;
    },
    dispatcher: () => connection().dispatcher(),
    authHeaders: () => connection().authHeaders(),
    renew: (failed) => connection().renew(failed),
    close: () => connection().close(),
  };
}

async function writeCredentials(directory: string, port: number): Promise<AdministratorTarget> {
  const validity = validFor(24 * 60 * 60_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'kubernetes' }, validity);
  const hosts = ['127.0.0.1', serverName];
  const server = await issueCertificate(
    { commonName: 'kube-apiserver', organizations: [], usages: ['server'], hosts },
    certificateAuthority,
    validity,
  );
  const admin = await issueCertificate(
    { commonName: 'admin', organizations: ['system:masters'], usages: ['client'], hosts: [] },
    certificateAuthority,
    validity,
  );
  const url = `https://127.0.0.1:${port}`;
  const serviceAccount = createServiceAccountKey();
  const files = {
    'ca.crt': certificateAuthority.certificate,
    'server.crt': server.certificate,
    'server.key': server.key,
    'sa.pub': serviceAccount.certificate,
    'sa.key': serviceAccount.key,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  const { certificate: cert, key } = admin;
  const kubeconfig = new KubeConfig();
  kubeconfig.loadFromClusterAndUser(
    { name: 'test', server: url, caData: base64(certificateAuthority.certificate), skipTLSVerify: false },
    { name: 'admin', certData: base64(cert), keyData: base64(key) },
  );
  await writeFile(join(directory, 'kubeconfig'), kubeconfig.exportConfig());
  return { server: url, serverName, ca: certificateAuthority.certificate, cert, key, certificateAuthority };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
