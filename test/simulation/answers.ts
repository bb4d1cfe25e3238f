import { apiServerThat } from '../support/api-server-answers.ts';
import { CertificateSigningRequest, ConfigMap, Node as NodeKind } from '../../constructs/api/resources.ts';
import type { SecretRole } from '../../constructs/control-plane/certificates/certificate-consumers.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { verifyingKeysOf } from '../../reconciler/pki/service-account-keys.ts';
import type { TrustProbes } from '../../reconciler/certificates/ca/trust-probes.ts';
import type { HostedClient } from '../../reconciler/clusters/hosted/hosted-client.ts';
import { objectsOf, type Rendered } from '../../reconciler/kube/rendering.ts';
import { verifies } from './chain.ts';
import type { Nodes } from './nodes.ts';
import type { Process, Processes } from './processes.ts';

export interface AnswersProps {
  readonly processes: Processes;
  readonly nodes: Nodes;
  readonly now: () => number;
  /** What the controller manager publishes as kube-root-ca.crt. */
  readonly rootTrust: () => string;
}

/** The answers of the programs of a simulated cluster to requests, derived from the files they have read. */
export class Answers implements TrustProbes {
  readonly #props: AnswersProps;
  readonly #applied = new Map<string, RenderedObject>();
  readonly #notes = new Map<string, Readonly<Record<string, string>>>();
  /** CA certificates that API servers publish for aggregated API servers, by the key of the ConfigMap. */
  readonly #extension = new Map<string, Set<string>>();

  constructor(props: AnswersProps) {
    this.#props = props;
  }

  async userOf(
    server: { readonly host: string },
    client: { readonly certificate: string },
    asUser?: string,
  ): Promise<string | undefined> {
    const role: SecretRole = asUser === undefined ? 'clusterCA' : 'frontProxyCA';
    const purpose = asUser === undefined ? 'verifies clients' : undefined;
    const trusted = this.#at(server.host).read(role, 'kube-apiserver', 'trust', 'tls.crt', purpose);
    const isTrusted = verifies({ presented: client.certificate, trusted, usage: 'client' }, this.#props.now());
    return isTrusted ? (asUser ?? 'hosted-control-plane-rotation') : undefined;
  }

  async isAdmitted(server: { readonly host: string }, client: { readonly certificate: string }): Promise<boolean> {
    const trusted = this.#at(server.host).read('etcdCA', 'etcd', 'trust');
    return verifies({ presented: client.certificate, trusted, usage: 'client' }, this.#props.now());
  }

  async servedBy({ host, port }: { readonly host: string; readonly port: number }): Promise<string> {
    const process = this.#at(host);
    const shown = () => {
      switch (port) {
        case ports.etcdClient:
          return process.read('etcdServer', 'etcd', 'pair');
        case ports.etcdPeer:
          return process.read('etcdPeer', 'etcd', 'pair');
        case ports.konnectivityAgent:
          return process.read('konnectivityServer', 'konnectivity-server', 'pair');
        default:
          return process.read('apiServer', 'kube-apiserver', 'pair');
      }
    };
    return splitCertificates(shown())[0] ?? '';
  }

  /** The client of the hosted cluster, as far as it depends on certificates. */
  get hosted(): Partial<HostedClient> {
    const { nodes, now } = this.#props;
    return {
      apply: async <T>(rendered: Rendered<RenderedObject>) => {
        const objects = objectsOf(rendered);
        for (const object of objects) this.#applied.set(`${object.kind} ${object.metadata.name}`, object);
        return objects.map(rolledOut) as T[];
      },
      nodes: () => nodes.all.length,
      nodeMetadata: () => nodes.all.map(({ name, joinedAt }) => this.#nodeObject(name, joinedAt)),
      annotateNode: async ({ metadata }, annotations) => {
        this.#notes.set(metadata.name, { ...this.#notes.get(metadata.name), ...annotations });
      },
      certificateRequests: () =>
        nodes.all
          .filter(({ issuedAt }) => now() - issuedAt < requestsKeptMs)
          .map(({ name, issuedAt, client }) => ({
            apiVersion: CertificateSigningRequest.apiVersion,
            kind: CertificateSigningRequest.kind,
            metadata: { name: `csr-${name}`, creationTimestamp: new Date(issuedAt).toISOString() },
            spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client-kubelet' },
            status: {
              conditions: [{ type: 'Approved', status: 'True' }],
              certificate: Buffer.from(client.certificate).toString('base64'),
            },
          })),
      at: async (address, _identity, work) => {
        const keys = (use: 'trust' | 'signer') =>
          verifyingKeysOf(this.#at(address).read('serviceAccount', 'kube-apiserver', use)).map(({ id }) => id);
        return work(apiServerThat({ verifyingKeys: () => keys('trust'), signingKey: () => keys('signer')[0] }));
      },
      asAdministrator: (work) =>
        work(
          apiServerThat({
            configMaps: () => this.#published(),
            patch: (_, name, patch) => this.#republish(name, patch),
          }),
        ),
    };
  }

  #nodeObject(name: string, joinedAt: number): KubeObject {
    const annotations = this.#notes.get(name) ?? {};
    const creationTimestamp = new Date(joinedAt).toISOString();
    return { apiVersion: NodeKind.apiVersion, kind: NodeKind.kind, metadata: { name, creationTimestamp, annotations } };
  }

  #published(): KubeObject[] {
    const { processes, rootTrust } = this.#props;
    for (const process of processes.of('api-server')) {
      this.#publish(
        'client-ca-file',
        process.read('clusterCA', 'kube-apiserver', 'trust', 'tls.crt', 'verifies clients'),
      );
      this.#publish('requestheader-client-ca-file', process.read('frontProxyCA', 'kube-apiserver', 'trust'));
    }
    const info = this.#applied.get(`${ConfigMap.kind} cluster-info`);
    const { kubeconfig = '' } = (info?.['data'] ?? {}) as { readonly kubeconfig?: string };
    const extension = Object.fromEntries([...this.#extension].map(([key, trusted]) => [key, [...trusted].join('')]));
    return [
      configMap('default', 'kube-root-ca.crt', { 'ca.crt': rootTrust() }),
      configMap('kube-public', 'cluster-info', { kubeconfig }),
      configMap('kube-system', 'extension-apiserver-authentication', extension),
    ];
  }

  /** An API server adds the CA certificates it trusts to the published ones. */
  #publish(key: string, certificates: string): void {
    const trusted = this.#extension.get(key) ?? new Set();
    this.#extension.set(key, new Set([...trusted, ...splitCertificates(certificates)]));
  }

  #republish(name: string, { data = {} }: { readonly data?: Readonly<Record<string, string>> }): void {
    if (name !== 'extension-apiserver-authentication') return;
    for (const [key, certificates] of Object.entries(data)) {
      this.#extension.set(key, new Set(splitCertificates(certificates)));
    }
  }

  #at(address: string): Process {
    const found = this.#props.processes.all.find((process) => process.address === address);
    if (!found) throw new Error(`no process answers at ${address}`);
    return found;
  }
}

/** The controller manager deletes answered requests after this time. */
const requestsKeptMs = 3600_000;

/** Workloads in the hosted cluster are always ready. */
function rolledOut(object: RenderedObject): RenderedObject {
  const { replicas = 1 } = (object['spec'] ?? {}) as { readonly replicas?: number };
  const counts = { replicas, readyReplicas: replicas, availableReplicas: replicas, updatedReplicas: replicas };
  return { ...object, status: { observedGeneration: 1, ...counts } };
}

function configMap(namespace: string, name: string, data: Readonly<Record<string, string>>): KubeObject {
  return { apiVersion: ConfigMap.apiVersion, kind: ConfigMap.kind, metadata: { namespace, name }, data } as KubeObject;
}
