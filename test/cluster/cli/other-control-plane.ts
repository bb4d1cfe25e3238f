import { ConfigMap, HostedControlPlane, Service, ServiceAccount } from '../../../constructs/api/resources.ts';
import { KubeClient } from '../../../reconciler/kube/client.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { issueCertificate, validFor } from '../../../reconciler/pki/issue.ts';
import { until } from '../../support/until.ts';
import { kubernetesVersion, type Workbench } from '../../support/workbench.ts';
import { makeOtherKeys } from './other-keys.ts';
import { otherAddOns } from './other-add-ons.ts';
import { otherApiService, otherFieldManager, otherObjects } from './other-objects.ts';

const fieldManager = 'test';
const apply = { fieldManager: otherFieldManager, force: true };
const before = { namespace: 'default', name: 'before' };

interface ServiceObject extends KubeObject {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

/** A running control plane as teutonet's provider makes it, whose operator has been stopped. */
export interface OtherControlPlane {
  /** Address of the endpoint. */
  readonly address: string;
  /** Clients that its workers and pods have, by name: they know nothing of another provider. */
  readonly clients: Readonly<Record<'node' | 'olderNode' | 'token' | 'administrator', KubeClient>>;
  close(): Promise<void>;
}

/** Creates the control plane of a Cluster, its HostedControlPlane and what is written through it. */
export async function makeOtherControlPlane(
  bench: Workbench,
  cluster: string,
  spec: object,
): Promise<OtherControlPlane> {
  const { client, namespace } = bench;
  const place = { namespace, cluster };
  await client.apply(otherApiService(place), apply);
  const address = await until('an address of the load balancer', async () => {
    const { status } = await client.get<ServiceObject>(Service, { namespace, name: `s-${cluster}` });
    return status?.loadBalancer?.ingress?.[0]?.ip;
  });
  const { root, oldRoot, secrets } = await makeOtherKeys(place, [address]);
  for (const secret of secrets) await client.apply(secret, apply);
  for (const object of otherObjects({ ...place, version: kubernetesVersion, address }))
    await client.apply(object, apply);
  await bench.create(cluster, spec, { controlPlaneEndpoint: { host: address, port: 6443 } });
  const status = { initialization: { controlPlaneInitialized: true }, etcdVolumeSize: '1Gi' };
  await client.mergePatch(
    HostedControlPlane,
    { namespace, name: `${cluster}-cp` },
    { status },
    { fieldManager, subresource: 'status' },
  );

  const server = `https://${address}:6443`;
  const open = (credentials: object) =>
    new KubeClient(connectionFor({ server, ca: root.certificate, ...credentials }), { deadlineMs: 2_000 });
  const user = async (commonName: string, organization: string, signer = root) => {
    const plan = { commonName, organizations: [organization], usages: ['client'] as const, hosts: [] };
    const { certificate, key } = await issueCertificate(plan, signer, validFor(12 * 3_600_000, new Date()));
    return open({ cert: certificate, key });
  };
  const administrator = await user('kubernetes-admin', 'system:masters');
  await until(
    'the API server of the other provider',
    () => administrator.raw('/readyz').catch(() => undefined),
    120_000,
  );
  const account = { namespace: 'default', name: 'app' };
  const { apiVersion, kind } = ServiceAccount;
  await administrator.create({ apiVersion, kind, metadata: account }, { fieldManager });
  await administrator.create({ apiVersion: 'v1', kind: ConfigMap.kind, metadata: before }, { fieldManager });
  for (const object of otherAddOns(cluster)) await administrator.create(object, { fieldManager: otherFieldManager });
  const clients = {
    administrator,
    node: await user('system:node:w1', 'system:nodes'),
    olderNode: await user('system:node:w2', 'system:nodes', oldRoot),
    token: open({ token: await administrator.serviceAccountToken(account) }),
  };
  return {
    address,
    clients,
    close: async () => void (await Promise.all(Object.values(clients).map((one) => one.close()))),
  };
}

interface Review extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string } };
}

/** The user that the API server sees in a client. */
export async function userOf(client: KubeClient): Promise<string | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
  return (await client.create<Review>(review, { fieldManager })).status?.userInfo?.username;
}

/** Writes again and again, and measures how long no write succeeds. */
export class OutageClock {
  readonly #client: KubeClient;
  #writes = 0;
  #longestMs = 0;
  #isOver = false;
  readonly #work: Promise<void>;

  constructor(client: KubeClient) {
    this.#client = client;
    this.#work = this.#run();
  }

  /** @returns the longest time between two writes */
  async stop(): Promise<{ readonly longestMs: number; readonly writes: number }> {
    this.#isOver = true;
    await this.#work;
    return { longestMs: this.#longestMs, writes: this.#writes };
  }

  async #run(): Promise<void> {
    let last = performance.now();
    while (!this.#isOver) {
      const data = { write: String(this.#writes) };
      const isWritten = await this.#client.mergePatch(ConfigMap, before, { data }, { fieldManager }).then(
        () => true,
        () => false,
      );
      if (!isWritten) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      this.#longestMs = Math.max(this.#longestMs, performance.now() - last);
      last = performance.now();
      this.#writes += 1;
    }
  }
}
