import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Etcd3 } from 'etcd3';
import { MemberClient } from '../../../reconciler/etcd/client.ts';
import { damageIn } from '../../../reconciler/etcd/damage.ts';
import { type EtcdCredentials, type MemberEndpoint } from '../../../reconciler/etcd/etcd3-client.ts';
import type { EtcdObservation, MemberClaim, MemberPod } from '../../../reconciler/etcd/members.ts';
import { initialCluster, isAwaited, podsFor } from '../../../reconciler/etcd/membership.ts';
import { observeEtcd } from '../../../reconciler/etcd/observe-members.ts';
import type { EtcdStep } from '../../../reconciler/etcd/steps.ts';
import { createCA, issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { findBinaries } from '../../tools/testbed/binaries.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { ask } from '../certificates/dial.ts';
import { damageText } from './damage-text.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

const serverName = 'etcd.test.svc';

/** One ordinal: its addresses, its "volume" with the annotation on it, and its process. */
interface Place {
  readonly name: string;
  readonly client: number;
  readonly peer: number;
  mark: string | undefined;
  /** The process of the pod; the pod exists as long as this is set. */
  process: ChildProgram | undefined;
  /** The test has observed that it did not run. */
  wasSeenDown: boolean;
  /** How often it exited since the pod was created. */
  failures: number;
  /** The template revision of the process. */
  revision: string;
}

/** etcd members as TLS processes on loopback ports, with directories for volumes; acts as a StatefulSet. */
export class EtcdProcesses {
  #binary: string;
  #revision = 'new';
  #isStopped = false;
  readonly #directory: string;
  readonly #places: readonly Place[];
  readonly #clients: ReadonlyMap<string, MemberClient>;
  readonly #flags: readonly string[];
  readonly #credentials: EtcdCredentials;

  private constructor(
    binary: string,
    directory: string,
    places: readonly Place[],
    credentials: EtcdCredentials,
    flags: readonly string[],
  ) {
    this.#binary = binary;
    this.#directory = directory;
    this.#places = places;
    this.#flags = flags;
    this.#credentials = credentials;
    this.#clients = new Map(
      places.map(({ name, client }) => [
        name,
        new MemberClient({ name, address: `127.0.0.1:${client}`, serverName }, credentials),
      ]),
    );
  }

  /**
   * Prepares `places` members, of which the first `started` form a cluster; with the testbed's etcd, or this binary. With none
   * started, the test runs the founders itself.
   */
  static async start(
    places: number,
    started: number,
    flags: readonly string[] = [],
    binary?: string,
  ): Promise<EtcdProcesses> {
    const etcd = binary ?? (await testbedEtcd());
    const directory = await mkdtemp(join(tmpdir(), 'etcd-'));
    const credentials = await writeCredentials(directory);
    const prepared = await Promise.all(Array.from({ length: places }, async (_, ordinal) => placeOf(ordinal)));
    const cluster = new EtcdProcesses(etcd, directory, prepared, credentials, flags);
    const founders = prepared.slice(0, started);
    for (const { name } of founders) cluster.run(name, 'new', initialClusterOf(founders));
    return cluster;
  }

  /** `initial-cluster` with all places. */
  get all(): string {
    return initialClusterOf(this.#places);
  }

  /** A server at the peer port of a member that does not run, which answers nothing: how a peer sees a pod that starts. */
  async holdPeerPort(name: string): Promise<Server> {
    const server = createServer();
    server.listen(this.#place(name).peer, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  /** Revision of the template for new processes. */
  get revision(): string {
    return this.#revision;
  }

  /** Changes the template: members that are started from now on run this binary. */
  useBinary(path: string): void {
    this.#binary = path;
    this.#revision = path;
  }

  readonly clients = (name: string): MemberClient | undefined => this.#clients.get(name);

  client(name: string): MemberClient {
    const client = this.#clients.get(name);
    if (!client) throw new Error(`no member ${name}`);
    return client;
  }

  /** How another process connects to a member. */
  access(name: string): { readonly member: MemberEndpoint; readonly credentials: EtcdCredentials } {
    const { client } = this.#place(name);
    return { member: { name, address: `127.0.0.1:${client}`, serverName }, credentials: this.#credentials };
  }

  /**
   * A client for keys, as an API server uses it, for all members. The caller closes it.
   * @param deadlineMs after which a call counts as unanswered; after three of these etcd3 refuses all calls for five seconds
   */
  keys(deadlineMs = 3_000): Etcd3 {
    const { ca, cert, key } = this.#credentials;
    return new Etcd3({
      hosts: this.#places.filter(isRunning).map(({ client }) => `https://127.0.0.1:${client}`),
      credentials: { rootCertificate: Buffer.from(ca), certChain: Buffer.from(cert), privateKey: Buffer.from(key) },
      grpcOptions: { 'grpc.ssl_target_name_override': serverName },
      defaultCallOptions: () => ({ deadline: Date.now() + deadlineMs }),
    });
  }

  /** The metrics of a member in Prometheus' format. */
  async metrics(name: string): Promise<string> {
    const { cert: certificate, key } = this.#credentials;
    return (await ask({ port: this.#place(name).client, path: '/metrics', client: { certificate, key } })).text;
  }

  observe(): Promise<EtcdObservation> {
    const known = this.#places.map((place, ordinal) => {
      place.wasSeenDown = !isRunning(place);
      const claim: MemberClaim = { memberId: place.mark, isLost: false };
      const peerUrl = `https://127.0.0.1:${place.peer}`;
      return { ordinal, name: place.name, peerUrl, pod: this.#podOf(place), claim };
    });
    return observeEtcd(known, this.clients);
  }

  /** Starts a member again that its peers refuse as a client: they reach it, and it reaches none of them. */
  async runDeaf(name: string): Promise<void> {
    await this.kill(name);
    const [certificate, key] = ['foreign.crt', 'foreign.key'].map((file) => join(this.#directory, file));
    const asClient = [`--peer-client-cert-file=${certificate}`, `--peer-client-key-file=${key}`];
    this.run(name, 'existing', this.all, asClient);
  }

  run(name: string, state: 'new' | 'existing', members: string, flags: readonly string[] = []): void {
    // A test that ran into its timeout may still be running.
    if (this.#isStopped) throw new Error(`${name} is not started: all has been stopped`);
    const place = this.#place(name);
    place.revision = this.#revision;
    place.failures = 0;
    place.wasSeenDown = false;
    const file = (suffix: string): string => join(this.#directory, suffix);
    const child = new ChildProgram(
      this.#binary,
      [
        `--name=${name}`,
        `--data-dir=${file(name)}`,
        '--unsafe-no-fsync',
        // As in the product.
        '--enable-grpc-gateway=false',
        `--initial-cluster=${members}`,
        `--initial-cluster-state=${state}`,
        `--listen-client-urls=https://127.0.0.1:${place.client}`,
        `--advertise-client-urls=https://127.0.0.1:${place.client}`,
        `--listen-peer-urls=https://127.0.0.1:${place.peer}`,
        `--initial-advertise-peer-urls=https://127.0.0.1:${place.peer}`,
        `--cert-file=${file('etcd.crt')}`,
        `--key-file=${file('etcd.key')}`,
        `--trusted-ca-file=${file('ca.crt')}`,
        '--client-cert-auth',
        `--peer-cert-file=${file('etcd.crt')}`,
        `--peer-key-file=${file('etcd.key')}`,
        `--peer-trusted-ca-file=${file('ca.crt')}`,
        '--peer-client-cert-auth',
        ...this.#flags,
        ...flags,
      ],
      { log: file(`${name}.log`) },
    );
    child.onFailure(() => (place.failures += 1));
    place.process = child;
  }

  /** Acts as the kubelet and the StatefulSet controller: starts members that do not run, and deletes surplus pods. */
  async runMissing(observation: EtcdObservation): Promise<void> {
    const pods = podsFor(observation);
    for (const member of observation.members) {
      const { name, ordinal, peerUrl } = member;
      const { failures } = this.#place(name);
      // Without a quorum the surplus pods are unknown, and nothing is deleted.
      if (ordinal >= pods && observation.membership === 'confirmed') await this.#deletePod(name);
      // An exited process is restarted later, as the kubelet does, so that the operator observes that it does not run.
      if (ordinal >= pods || !this.#place(name).wasSeenDown) continue;
      const isNew = isAwaited(observation, member);
      this.run(name, 'existing', isNew ? initialCluster(observation, name) : `${name}=${peerUrl}`);
      this.#place(name).failures = failures;
    }
  }

  /** Kills a member with SIGKILL. */
  async kill(name: string): Promise<void> {
    await this.#place(name).process?.end();
  }

  /** Kills a member and deletes its volume claim; an empty one replaces it, on which etcd refuses to start. */
  async loseVolume(name: string): Promise<void> {
    await this.kill(name);
    await rm(join(this.#directory, name), { recursive: true, force: true });
    Object.assign(this.#place(name), { mark: undefined, failures: 1 });
  }

  /** Kills a member and changes its files; `change` gets the directory of its data. */
  async tamper(name: string, change: (directory: string) => Promise<void>): Promise<void> {
    await this.kill(name);
    await change(join(this.#directory, name, 'member'));
  }

  /** Resolves when the database of a member contains this text; etcd writes it ten times a second. */
  async untilOnDisk(name: string, text: string): Promise<void> {
    const path = join(this.#directory, name, 'member/snap/db');
    await until(`${text} in the database of ${name}`, async () => (await readFile(path)).includes(text));
  }

  /** Changes one byte of every copy of this text in the database of a running member, as a bad disk would. */
  async damage(name: string, text: string): Promise<void> {
    await damageText(join(this.#directory, name, 'member/snap/db'), text);
  }

  /** The steps that are not requests to etcd. */
  async executeOnPods(step: EtcdStep): Promise<void> {
    if (step.kind === 'markVolume' || step.kind === 'reserveVolume') this.#place(step.member).mark = step.id;
    if (step.kind === 'discardVolume') {
      await this.loseVolume(step.member);
      await this.#deletePod(step.member);
    }
    if (step.kind !== 'replacePod') return;
    await this.kill(step.member);
    const { name, peer } = this.#place(step.member);
    this.run(name, 'existing', `${name}=https://127.0.0.1:${peer}`);
  }

  /** Kills all members and removes their files. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const client of this.#clients.values()) client.close();
    await Promise.all(this.#places.map(async (place) => place.process?.end()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  #podOf(place: Place): MemberPod | undefined {
    if (!place.process) return undefined;
    return {
      uid: `${place.name}-${place.process.pid}`,
      revision: place.revision,
      isTerminating: false,
      isRunning: isRunning(place),
      restarts: place.failures,
      // As much as the kubelet keeps.
      damage: damageIn(readFileSync(join(this.#directory, `${place.name}.log`), 'utf8').slice(-2048)),
    };
  }

  async #deletePod(name: string): Promise<void> {
    await this.kill(name);
    Object.assign(this.#place(name), { process: undefined, failures: 0 });
  }

  #place(name: string): Place {
    const place = this.#places.find((one) => one.name === name);
    if (!place) throw new Error(`no member ${name}`);
    return place;
  }
}

/** The etcd of the version that all others run. */
export async function testbedEtcd(): Promise<string> {
  const { etcd } = await findBinaries(instanceFrom(process.env).cache, process.env['HCP_TESTBED_BIN'], () => {});
  if (!etcd) throw new Error('the testbed has no binary etcd');
  return etcd;
}

async function placeOf(ordinal: number): Promise<Place> {
  const [client, peer] = [await freePort(), await freePort()];
  const process = undefined;
  return {
    name: `etcd-${ordinal}`,
    client,
    peer,
    mark: undefined,
    process,
    wasSeenDown: true,
    failures: 0,
    revision: 'new',
  };
}

function initialClusterOf(founders: readonly Place[]): string {
  return founders.map(({ name, peer }) => `${name}=https://127.0.0.1:${peer}`).join(',');
}

function isRunning({ process: child }: Place): boolean {
  return child?.isRunning ?? false;
}

async function writeCredentials(directory: string): Promise<EtcdCredentials> {
  const validity = validFor(24 * 60 * 60_000, new Date());
  const certificateAuthority = await createCA({ commonName: 'etcd' }, validity);
  const plan = {
    commonName: 'etcd',
    organizations: [],
    usages: ['server', 'client'],
    hosts: ['127.0.0.1', serverName],
  } as const;
  const pair = await issueCertificate(plan, certificateAuthority, validity);
  const { certificate: cert, key } = pair;
  const foreign = await issueCertificate(plan, await createCA({ commonName: 'another' }, validity), validity);
  const files = {
    'ca.crt': certificateAuthority.certificate,
    'etcd.crt': cert,
    'etcd.key': key,
    'foreign.crt': foreign.certificate,
    'foreign.key': foreign.key,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  return { ca: certificateAuthority.certificate, cert, key };
}
