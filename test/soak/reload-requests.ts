import { kubeletRequest } from '../support/kubelet-request.ts';
import { hostedRights } from '../support/hosted-api-server.ts';
import { until } from '../support/until.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import { type Answer, ask, type Question } from '../cluster/certificates/dial.ts';
import { type Generation, pairIn, secretNames } from '../cluster/certificates/generation.ts';

export const startMs = 120_000;
export const core = '/api/v1';
const podSpec = { containers: [{ name: 'c', image: 'none' }] };
const named = (name: string) => ({ metadata: { name } });
const podNamed = (name: string) => ({ ...named(name), spec: podSpec });

/** Whether something works in the end. */
export const works = (done: Promise<void>) =>
  done.then(
    () => true,
    () => false,
  );

/** What an administrator asks an API server to learn which files each program has reloaded. */
export class ReloadRequests {
  readonly #port: number;
  readonly #administrator: KeyPair;

  /** @param administrator who asks, unless a request names another client */
  constructor(port: number, administrator: KeyPair) {
    this.#port = port;
    this.#administrator = administrator;
  }

  /** @returns the answer of the API server */
  api(question: Omit<Question, 'port'>): Promise<Answer> {
    return ask({ client: this.#administrator, ...question, port: this.#port });
  }

  async read<T>(path: string, client = this.#administrator): Promise<T> {
    return JSON.parse((await this.api({ path, client })).text) as T;
  }

  async isLetIn(client: KeyPair): Promise<boolean> {
    return (await this.api({ path: `${core}/namespaces/default`, client })).status === 200;
  }

  isLetInWithin(client: KeyPair, limitMs: number): Promise<boolean> {
    return until('to be let in', () => this.isLetIn(client), limitMs).catch(() => false);
  }

  async untilReady(client: KeyPair): Promise<void> {
    await until('the API server', async () => (await this.api({ path: '/readyz', client })).status === 200, startMs);
  }

  async create(path: string, object: object, client = this.#administrator): Promise<void> {
    await until(
      `an answer to the creation of ${path}`,
      async () => {
        const { status, text } = await this.api({ method: 'POST', path, body: object, client });
        if (status !== 0 && status !== 201 && status !== 409) throw new Error(`create ${path}: ${status} ${text}`);
        return status !== 0;
      },
      startMs,
    );
  }

  /**
   * The objects that the tests need.
   * @param servers the ports of the kubelet of a node, and of an aggregated API server
   */
  async makeObjects(
    client: KeyPair,
    servers: { readonly kubelet: number; readonly aggregated: number },
  ): Promise<void> {
    for (const object of hostedRights) {
      const { kind, apiVersion, metadata } = object;
      const plural = `${kind.toLowerCase()}s`;
      const namespace = metadata.namespace ? `/namespaces/${metadata.namespace}` : '';
      if (metadata.namespace) await this.create(`${core}/namespaces`, named(metadata.namespace), client);
      await this.create(`/apis/${apiVersion}${namespace}/${plural}`, object, client);
    }
    const node = {
      ...named('n1'),
      status: {
        addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: servers.kubelet } },
        allocatable: { pods: '10', cpu: '4', memory: '8Gi' },
        capacity: { pods: '10', cpu: '4', memory: '8Gi' },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
    };
    await this.create(`${core}/nodes`, node, client);
    await this.create(
      `${core}/namespaces/default/pods`,
      { ...podNamed('placed'), spec: { ...podSpec, nodeName: 'n1', tolerations: [{ operator: 'Exists' }] } },
      client,
    );
    const service = { type: 'ExternalName', externalName: 'localhost', ports: [{ port: servers.aggregated }] };
    await this.create(`${core}/namespaces/default/services`, { ...named('weather'), spec: service }, client);
    const apiService = {
      group: 'weather.example.org',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: 'default', name: 'weather', port: servers.aggregated },
    };
    await this.create(
      '/apis/apiregistration.k8s.io/v1/apiservices',
      { ...named('v1.weather.example.org'), spec: apiService },
      client,
    );
  }

  /** The controller manager creates a service account in every new namespace. */
  async untilControllersWork(namespace: string, client: KeyPair, limitMs = startMs): Promise<void> {
    await this.create(`${core}/namespaces`, named(namespace), client);
    const path = `${core}/namespaces/${namespace}/serviceaccounts/default`;
    await until('controllers to work', async () => (await this.api({ path, client })).status === 200, limitMs);
  }

  /** The scheduler binds every pod, or reports why it cannot. */
  async untilScheduled(name: string, client: KeyPair, limitMs = startMs): Promise<void> {
    await this.create(`${core}/namespaces/default/pods`, podNamed(name), client);
    await until(
      'the scheduler',
      async () => {
        const path = `${core}/namespaces/default/pods/${name}`;
        const found = await this.read<{ status?: { conditions?: { type: string }[] } }>(path, client).catch(
          () => undefined,
        );
        return found?.status?.conditions?.some(({ type }) => type === 'PodScheduled');
      },
      limitMs,
    );
  }

  /** Whether the konnectivity server continues to renew its lease, as it does every few seconds. */
  async renewsLease(): Promise<boolean> {
    const began = await this.newestLease(this.#administrator);
    return works(
      until('a renewed lease', async () => (await this.newestLease(this.#administrator)) > began, startMs).then(
        () => {},
      ),
    );
  }

  /** When konnectivity servers last renewed a lease, in milliseconds since the epoch; 0 for never. */
  async newestLease(client: KeyPair): Promise<number> {
    const path =
      '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=k8s-app%3Dkonnectivity-server';
    const { items = [] } = await this.read<{ items?: { spec: { renewTime: string } }[] }>(path, client);
    return Math.max(0, ...items.map(({ spec }) => Date.parse(spec.renewTime)));
  }

  askAggregated(client: KeyPair): Promise<Answer> {
    return this.api({ path: '/apis/weather.example.org/v1/anything', client });
  }

  async speakForJane(generation: Generation): Promise<string | undefined> {
    const { text } = await this.api({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      headers: { 'x-remote-user': 'jane', 'x-remote-group': 'system:authenticated' },
      client: pairIn(generation, secretNames.frontProxyClient),
    });
    return (JSON.parse(text) as { status?: { userInfo?: { username?: string } } }).status?.userInfo?.username;
  }

  async issuedToken(client: KeyPair): Promise<string> {
    await this.create(`${core}/namespaces/default/serviceaccounts`, named('bearer'), client);
    const path = `${core}/namespaces/default/serviceaccounts/bearer/token`;
    const { text } = await this.api({ method: 'POST', path, body: { spec: {} }, client });
    return (JSON.parse(text) as { status: { token: string } }).status.token;
  }

  async isTokenAccepted(token: string): Promise<boolean> {
    const path = '/apis/authentication.k8s.io/v1/tokenreviews';
    const { text } = await this.api({ method: 'POST', path, body: { spec: { token } } });
    return (JSON.parse(text) as { status?: { authenticated?: boolean } }).status?.authenticated === true;
  }

  async keptToken(): Promise<string> {
    const annotations = { 'kubernetes.io/service-account.name': 'bearer' };
    const secret = { metadata: { name: 'kept', annotations }, type: 'kubernetes.io/service-account-token' };
    await this.create(`${core}/namespaces/default/secrets`, secret);
    const token = await until('a token', async () => {
      const { data } = await this.read<{ data?: { token?: string } }>(`${core}/namespaces/default/secrets/kept`);
      return data?.token;
    });
    return Buffer.from(token, 'base64').toString();
  }

  async signedByControllerManager(): Promise<string> {
    const { apiVersion, kind, spec } = await kubeletRequest();
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const { request, usages } = spec;
    const client = {
      request,
      usages: ['digital signature', 'client auth'],
      signerName: 'kubernetes.io/kube-apiserver-client',
    };
    await this.create(path, {
      apiVersion,
      kind,
      metadata: { name: 'any' },
      spec: { ...client, usages: usages && client.usages },
    });
    const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'test' }];
    const approved = { ...(await this.read<object>(`${path}/any`)), status: { conditions } };
    await this.api({ method: 'PUT', path: `${path}/any/approval`, body: approved });
    const certificate = await until('a signed certificate', async () => {
      const { status } = await this.read<{ status?: { certificate?: string } }>(`${path}/any`);
      return status?.certificate;
    });
    return Buffer.from(certificate, 'base64').toString();
  }
}
