import { hasChange } from '../../constructs/cluster/versions.ts';
import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { bundle } from '../../reconciler/pki/pem.ts';
import { ControlPlaneProcesses, type ProcessName } from '../cluster/certificates/control-plane-processes.ts';
import { shownCertificate } from '../cluster/certificates/dial.ts';
import { type Generation, newGeneration, secretNames } from '../cluster/certificates/generation.ts';
import { RecordingServer } from '../cluster/certificates/recording-server.ts';
import { until } from '../support/until.ts';
import type { Replaced } from './reload-observations.ts';
import { ReloadRequests, startMs } from './reload-requests.ts';

/** Clients of Kubernetes reload their files every five minutes. */
export const slowestReloadMs = 12 * 60_000;

const masters = ['system:masters'];

/** The programs of a control plane, in the order in which they start. */
export const programs: readonly ProcessName[] = [
  'etcd',
  'spare etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'konnectivity-server',
  'tunnel',
];

/** They verify the API server with the CA in their kubeconfig. */
const kubeconfigUsers: readonly ProcessName[] = ['kube-controller-manager', 'kube-scheduler', 'konnectivity-server'];

type Secrets = Generation['secrets'];

/** A control plane of one minor, whose files are all replaced while its programs run. */
export class ReloadTrial implements Replaced {
  readonly control: ControlPlaneProcesses;
  readonly old: Generation;
  readonly next: Generation;
  readonly kubelet: RecordingServer;
  readonly aggregated: RecordingServer;
  readonly oldAdministrator: KeyPair;
  readonly administrator: KeyPair;
  readonly requests: ReloadRequests;
  oldToken = '';

  private constructor(
    control: ControlPlaneProcesses,
    generations: { readonly old: Generation; readonly next: Generation },
    administrators: { readonly old: KeyPair; readonly next: KeyPair },
    servers: { readonly kubelet: RecordingServer; readonly aggregated: RecordingServer },
  ) {
    this.control = control;
    this.old = generations.old;
    this.next = generations.next;
    this.oldAdministrator = administrators.old;
    this.administrator = administrators.next;
    this.kubelet = servers.kubelet;
    this.aggregated = servers.aggregated;
    this.requests = new ReloadRequests(control.ports.api, administrators.next);
  }

  /**
   * Starts every program with the old generation, and resolves when all work.
   * @param minor such as `1.34`; the newest one by default
   */
  static async start(minor?: string): Promise<ReloadTrial> {
    const control = await ControlPlaneProcesses.prepare(minor);
    const [old, next] = await Promise.all([newGeneration(), newGeneration()]);
    const administrators = {
      old: await old.issue('cluster', 'administrator', masters),
      next: await next.issue('cluster', 'administrator', masters),
    };
    const kubelet = await RecordingServer.start(await servingPair(old.cluster));
    const aggregated = await RecordingServer.start(await servingPair(old.cluster));
    const trial = new ReloadTrial(control, { old, next }, administrators, { kubelet, aggregated });
    await trial.#start().catch(async (error: unknown) => {
      await trial.stop();
      throw error;
    });
    return trial;
  }

  /** The version of Kubernetes. */
  get version(): string {
    return this.control.version;
  }

  isRunning(program: ProcessName): boolean {
    return this.control.isRunning(program);
  }

  async #start(): Promise<void> {
    const requests = this.requests;
    const administrator = this.oldAdministrator;
    for (const name of programs) {
      await this.control.write(name, this.#firstSecrets(name));
      if (name === 'kube-controller-manager') await requests.untilReady(administrator);
      this.control.start(name);
    }
    const servers = { kubelet: this.kubelet.port, aggregated: this.aggregated.port };
    await requests.makeObjects(administrator, servers);
    this.oldToken = await requests.issuedToken(administrator);
    await requests.untilControllersWork('before', administrator);
    await requests.untilScheduled('before', administrator);
    const lease = () => requests.newestLease(administrator).catch(() => 0);
    await until('the lease of konnectivity', async () => (await lease()) > 0, startMs);
    const askAggregated = async () => (await requests.askAggregated(administrator)).status === 200;
    await until('the aggregated API', askAggregated, startMs);
  }

  /** Replaces every file by that of the next generation, and resolves when programs had the time to reload theirs. */
  async replaceFiles(): Promise<void> {
    const requests = this.requests;
    const administrator = this.administrator;
    for (const name of programs) if (name !== 'etcd') await this.control.write(name, this.next.secrets);
    await until('the next administrator', () => requests.isLetIn(administrator), slowestReloadMs);
    await requests.untilControllersWork('after', administrator, slowestReloadMs);
    await requests.untilScheduled('after', administrator, slowestReloadMs);
    const began = Date.now();
    const lease = () => requests.newestLease(administrator).catch(() => 0);
    await until('konnectivity to renew its lease', async () => (await lease()) > began, slowestReloadMs);
    await until('the tunnel to be there', () => shownCertificate(this.control.ports.tunnel), startMs);
  }

  /** Kills all programs and removes their files. */
  async stop(): Promise<void> {
    await this.control.stop();
    await this.kubelet.stop();
    await this.aggregated.stop();
  }

  /** Whether programs forget a CA that is no longer in their kubeconfig. Where they do not, they trust both from the start. */
  get forgetsCA(): boolean {
    return hasChange(this.version, 'reloadsKubeconfigCA');
  }

  #firstSecrets(name: ProcessName): Secrets {
    if (name === 'etcd') return this.#trustingBoth();
    if (this.forgetsCA || !kubeconfigUsers.includes(name)) return this.old.secrets;
    const both = bundle(this.old.cluster.certificate, this.next.cluster.certificate);
    return new Map([
      ...this.old.secrets,
      [secretNames.clusterCA, { 'tls.crt': both, 'tls.key': this.old.cluster.key }],
    ]);
  }

  /** The files of the API server's own etcd: it serves with the old generation, and first accepts clients of both. */
  #trustingBoth(): ReadonlyMap<string, Readonly<Record<string, string>>> {
    const both = bundle(this.old.etcd.certificate, this.next.etcd.certificate);
    return new Map([...this.old.secrets, [secretNames.etcdCA, { 'tls.crt': both }]]);
  }
}

/** The certificate of a server on the loopback address, such as the kubelet of a node there. */
async function servingPair(certificateAuthority: KeyPair): Promise<KeyPair> {
  const plan = { commonName: 'system:node:n1', organizations: ['system:nodes'], hosts: ['127.0.0.1', 'localhost'] };
  return issueCertificate(
    { ...plan, usages: ['server'] },
    certificateAuthority,
    validFor(24 * 60 * 60_000, new Date()),
  );
}
