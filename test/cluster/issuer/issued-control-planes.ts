import type { SecretObject } from '../../../imports/kubernetes.ts';
import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { CertificateRequest, Secret } from '../../../constructs/api/resources.ts';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';
import { pairOf } from '../../../reconciler/pki/secret.ts';
import { until } from '../../support/until.ts';
import type { Workbench } from '../../support/workbench.ts';

export const dayMs = 24 * 3_600_000;

/** The Secrets of the CAs that an issuer signs. */
export const caCertificates = (cluster: string) => ['ca', 'etcd', 'proxy'].map((name) => `${cluster}-${name}`);

/** How a control plane waits for its issuer. */
export const waiting = { status: 'False', reason: 'WaitingForIssuer' } as const;

/** The field of a spec that names an issuer. */
export const issuedBy = (name: string, kind = 'Issuer') => ({ certificates: { issuerRef: { name, kind } } });

/** What an issuer is asked for, and what it has signed, for the control planes of a namespace. */
export class IssuedControlPlanes {
  readonly #bench: Workbench;

  constructor(bench: Workbench) {
    this.#bench = bench;
  }

  async requests(cluster: string): Promise<CertificateRequestObject[]> {
    const { client, namespace } = this.#bench;
    const labelSelector = `cluster.x-k8s.io/cluster-name=${cluster}`;
    return (await client.list<CertificateRequestObject>(CertificateRequest, { namespace, labelSelector })).items;
  }

  /** The certificate and the key in a Secret. */
  async pair(name: string): Promise<KeyPair> {
    const { client, namespace } = this.#bench;
    const found = pairOf(await client.get<SecretObject>(Secret, { namespace, name }));
    if (!found) throw new Error(`Secret ${name} holds no pair`);
    return found;
  }

  async untilMessage(cluster: string, text: string): Promise<void> {
    let seen = '';
    const isSaid = async () => {
      seen = (await this.#bench.condition(cluster, 'CACertificatesReady'))?.message ?? '';
      return seen.includes(text);
    };
    await until(`a condition of ${cluster} with message ${text}`, isSaid, 60_000, () => seen);
  }
}
