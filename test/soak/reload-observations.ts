import { createPublicKey, verify, X509Certificate } from 'node:crypto';
import { expect } from 'vitest';
import { isSignedBy } from '../../reconciler/pki/certificate.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import type { ControlPlaneProcesses } from '../cluster/certificates/control-plane-processes.ts';
import { type Answer, ask, shownCertificate } from '../cluster/certificates/dial.ts';
import { type Generation, pairIn, secretNames } from '../cluster/certificates/generation.ts';
import type { RecordingServer } from '../cluster/certificates/recording-server.ts';
import { until } from '../support/until.ts';
import { core, type ReloadRequests, startMs, works } from './reload-requests.ts';

/** A control plane whose files were all replaced while its programs ran. */
export interface Replaced {
  readonly control: ControlPlaneProcesses;
  readonly old: Generation;
  readonly next: Generation;
  readonly kubelet: RecordingServer;
  readonly aggregated: RecordingServer;
  readonly oldAdministrator: KeyPair;
  readonly administrator: KeyPair;
  readonly requests: ReloadRequests;
  /** A token that was issued before. */
  readonly oldToken: string;
  /** Whether programs forget a CA that is no longer in their kubeconfig. Where they do not, they trust both from the start. */
  readonly forgetsCA: boolean;
}

/** What shows which files the programs of a control plane have reloaded. */
export class ReloadObservations {
  readonly #trial: Replaced;
  #servesOldAgain: Promise<void> | undefined;

  constructor(trial: Replaced) {
    this.#trial = trial;
  }

  /**
   * Whether a program trusts only what its kubeconfig names now. One that trusted both CAs from the start is asked with an API
   * server that presents the old certificate again.
   */
  async #hasReloadedCA(reachesServer: () => Promise<boolean>): Promise<boolean> {
    if (this.#trial.forgetsCA) return reachesServer();
    this.#servesOldAgain ??= this.#serveOldAgain();
    await this.#servesOldAgain;
    return !(await reachesServer());
  }

  /** Restarts the API server, the files of which have what the test of etcd's CA has left. */
  async #serveOldAgain(): Promise<void> {
    const { certificate, key } = pairIn(this.#trial.old, secretNames.apiServer);
    const secrets = new Map([
      ...this.#trial.next.secrets,
      [secretNames.apiServer, { 'tls.crt': certificate, 'tls.key': key }] as const,
      [secretNames.etcdCA, { 'tls.crt': this.#trial.old.etcd.certificate }] as const,
    ]);
    await this.#trial.control.kill('kube-apiserver');
    await this.#trial.control.write('kube-apiserver', secrets);
    this.#trial.control.start('kube-apiserver');
    await this.#trial.requests.untilReady(this.#trial.administrator);
  }

  /**
   * Whether a program works with the API server after the change: it serves the next pair and accepts clients of the next CA
   * only, and earlier connections have ended with the pair of the client.
   */
  #controls(name: string): Promise<boolean> {
    return works(this.#trial.requests.untilControllersWork(name, this.#trial.administrator));
  }

  #schedules(name: string): Promise<boolean> {
    return works(this.#trial.requests.untilScheduled(name, this.#trial.administrator));
  }

  /** Whether a program has reloaded the next generation for a use without a restart, by purpose. */
  get byPurpose(): Readonly<Record<string, () => boolean | Promise<boolean>>> {
    return {
      'clusterCA: kube-apiserver verifies clients': async () =>
        (await this.#trial.requests.isLetIn(this.#trial.administrator)) &&
        !(await this.#trial.requests.isLetIn(this.#trial.oldAdministrator)),
      'clusterCA: kube-apiserver verifies kubelets': async () => {
        // The kubelet serves as before: commands still work, from some minor on until someone reads a log.
        const before = await this.#reachKubelet('exec');
        const log = await this.#reachKubelet('log');
        const after = await this.#reachKubelet('exec');
        const { forgetsCA } = this.#trial;
        agree([log.status, log.text.includes('certificate')], forgetsCA ? [500, true] : [200, false]);
        agree(after.status, forgetsCA ? 500 : before.status);
        return before.status === 500;
      },
      'clusterCA: konnectivity-server verifies the API server': () =>
        this.#hasReloadedCA(() => this.#trial.requests.renewsLease()),
      'clusterCA: kube-controller-manager becomes kube-root-ca.crt': async () => {
        const published = await until('kube-root-ca.crt', async () => {
          const { data } = await this.#trial.requests.read<{ data?: Record<string, string> }>(
            `${core}/namespaces/after/configmaps/kube-root-ca.crt`,
          );
          return data?.['ca.crt'];
        });
        return published === this.#trial.next.cluster.certificate;
      },
      'clusterCA: kube-controller-manager signs certificates of kubelets': async () =>
        isSignedBy(await this.#trial.requests.signedByControllerManager(), this.#trial.next.cluster.certificate),
      'clusterCA: kube-controller-manager verifies the API server': () =>
        this.#hasReloadedCA(() => this.#controls('verified')),
      'clusterCA: kube-scheduler verifies the API server': () => this.#hasReloadedCA(() => this.#schedules('verified')),
      'etcdCA: etcd verifies clients and peers': async () => {
        const version = (client: KeyPair) =>
          ask({ port: this.#trial.control.ports.spareEtcdHTTP, path: '/version', client });
        const [before, after] = [
          await version(pairIn(this.#trial.old, secretNames.etcdController)),
          await version(pairIn(this.#trial.next, secretNames.etcdController)),
        ];
        agree(new Set([before.status, after.status]), new Set([0, 200]));
        return after.status === 200;
      },
      'etcdCA: kube-apiserver verifies etcd': async () => {
        await this.#restartEtcd(this.#trustingNext());
        return !(await this.#trial.requests.isLetInWithin(this.#trial.administrator, 90_000));
      },
      'frontProxyCA: kube-apiserver verifies front proxies': async () => {
        const [before, after] = [
          await this.#trial.requests.speakForJane(this.#trial.old),
          await this.#trial.requests.speakForJane(this.#trial.next),
        ];
        agree(before === after, false);
        return after === 'jane';
      },
      'frontProxyCA: kube-controller-manager verifies front proxies': async () => {
        const metrics = (generation: Generation) =>
          ask({
            port: this.#trial.control.ports.controllerManager,
            path: '/metrics',
            headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' },
            client: pairIn(generation, secretNames.frontProxyClient),
          });
        const [before, after] = [await metrics(this.#trial.old), await metrics(this.#trial.next)];
        agree(before.status === after.status, false);
        return after.status === 200;
      },
      'serviceAccount: kube-apiserver verifies tokens': async () =>
        !(await this.#trial.requests.isTokenAccepted(this.#trial.oldToken)),
      'serviceAccount: kube-apiserver signs tokens': async () =>
        this.#isOfNext(await this.#trial.requests.issuedToken(this.#trial.administrator)),
      'serviceAccount: kube-controller-manager signs tokens kept in Secrets': async () =>
        this.#isOfNext(await this.#trial.requests.keptToken()),
      'apiServer: kube-apiserver serves': () => this.#shows(this.#trial.control.ports.api, secretNames.apiServer),
      'apiServerKubeletClient: kube-apiserver reaches kubelets': () =>
        this.#trial.kubelet.client === x509Of(pairIn(this.#trial.next, secretNames.apiServerKubeletClient)),
      // Its etcd has been restarted by now, and accepts only clients of the next generation.
      'apiServerEtcdClient: kube-apiserver reaches etcd': () => this.#trial.requests.isLetIn(this.#trial.administrator),
      'frontProxyClient: kube-apiserver impersonates users towards aggregated API servers': async () => {
        this.#trial.aggregated.closeConnections();
        await until(
          'the aggregated API',
          async () => (await this.#trial.requests.askAggregated(this.#trial.administrator)).status === 200,
          startMs,
        );
        return this.#trial.aggregated.client === x509Of(pairIn(this.#trial.next, secretNames.frontProxyClient));
      },
      'etcdServer: etcd serves clients': () =>
        this.#shows(this.#trial.control.ports.spareEtcd, secretNames.etcdServer, secretNames.etcdController),
      'etcdPeer: etcd serves and reaches peers': () =>
        this.#shows(this.#trial.control.ports.sparePeer, secretNames.etcdPeer, secretNames.etcdPeer),
      'konnectivityServer: konnectivity-server serves agents': () =>
        this.#shows(this.#trial.control.ports.agents, secretNames.konnectivityServer),
      "konnectivityClient: konnectivity-server reviews agents' tokens": () => this.#trial.requests.renewsLease(),
      'tunnel: tunnel serves proxies of workers': () =>
        this.#shows(this.#trial.control.ports.tunnel, secretNames.tunnel),
      'controllerManager: kube-controller-manager reaches the API server': () => this.#controls('reached'),
      'scheduler: kube-scheduler reaches the API server': () => this.#schedules('reached'),
    };
  }

  async #reachKubelet(how: 'exec' | 'log'): Promise<Answer> {
    this.#trial.kubelet.closeConnections();
    const pod = `${core}/namespaces/default/pods/placed`;
    if (how === 'log') return this.#trial.requests.api({ path: `${pod}/log` });
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    return this.#trial.requests.api({ method: 'POST', path: `${pod}/exec?command=true&stdout=true`, headers });
  }

  /** Whether a token is signed with the next key. @throws when neither key has signed it */
  #isOfNext(token: string): boolean {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const isOf = ({ serviceAccount }: Generation) =>
      verify(
        'sha256',
        Buffer.from(`${header}.${payload}`),
        { key: createPublicKey(serviceAccount.certificate), dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      );
    agree(isOf(this.#trial.old) || isOf(this.#trial.next), true);
    return isOf(this.#trial.next);
  }

  /** Whether a server presents the certificate of this Secret in the next generation, and not that in the old one. */
  async #shows(port: number, secret: string, clientSecret?: string): Promise<boolean> {
    const client = clientSecret === undefined ? undefined : pairIn(this.#trial.old, clientSecret);
    const shown = await shownCertificate(port, client);
    const known = [this.#trial.old, this.#trial.next].map((generation) => x509Of(pairIn(generation, secret)));
    agree(shown !== undefined && known.includes(shown), true);
    return shown === known[1];
  }

  async #restartEtcd(secrets: ReadonlyMap<string, Readonly<Record<string, string>>>): Promise<void> {
    await this.#trial.control.write('etcd', secrets);
    await this.#trial.control.kill('etcd');
    this.#trial.control.start('etcd');
  }

  #trustingNext(): ReadonlyMap<string, Readonly<Record<string, string>>> {
    return new Map([
      ...this.#trial.old.secrets,
      [secretNames.etcdCA, { 'tls.crt': this.#trial.next.etcd.certificate }],
    ]);
  }
}

/** Fails the observation that needs it. */
function agree(actual: unknown, wanted: unknown): void {
  expect(actual).toEqual(wanted);
}

function x509Of({ certificate }: KeyPair): string {
  return new X509Certificate(certificate).toString();
}
