import { clusterSecretType } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { type OwnerReference, type RenderedObject } from '../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../constructs/cluster/defined.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import type { KubeObject } from '../kube/object.ts';
import type { KeyPair } from './issue.ts';
import { bundle } from './pem.ts';

/** A Secret as the API returns it. */
export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export interface SecretProps {
  readonly name: string;
  readonly namespace: string;
  /** Name of the Cluster it belongs to. */
  readonly cluster: string;
  readonly owner: OwnerReference;
}

/** Secret types by what reads them: Cluster API and its bootstrap providers look only at their own type. */
const types = { clusterApi: clusterSecretType, tls: 'kubernetes.io/tls' } as const;

/** The Secret of a key pair. Secrets are made here and not in a chart: no rendered object ever holds key material. */
export function pairSecret(props: SecretProps, type: keyof typeof types, pair: KeyPair): RenderedObject {
  return ownSecret(props, types[type], { 'tls.crt': pair.certificate, 'tls.key': pair.key });
}

/**
 * The Secret of a certificate that an authority has issued. Like cert-manager's it has the signer beside it: what must
 * know exactly the one that signs, and not all that are trusted, reads it there.
 * @param chain certificates by which whoever trusts only an earlier authority can verify it
 */
export function leafSecret(
  props: SecretProps,
  { certificate, key }: KeyPair,
  { signer, chain }: { readonly signer: string; readonly chain: readonly string[] },
): RenderedObject {
  return ownSecret(props, types.tls, { 'ca.crt': signer, 'tls.crt': bundle(certificate, ...chain), 'tls.key': key });
}

/** The Secret in which Cluster API looks for the kubeconfig of a cluster. */
export function kubeconfigSecret(props: SecretProps, kubeconfig: string): RenderedObject {
  return ownSecret(props, types.clusterApi, { value: kubeconfig });
}

/** The key pair a Secret holds; undefined when there is no such Secret or one of its two keys is missing. */
export function pairOf(object: SecretObject | undefined): KeyPair | undefined {
  const certificate = valueOf(object, 'tls.crt');
  const key = valueOf(object, 'tls.key');
  return certificate && key ? { certificate, key } : undefined;
}

/** The text under one key of a Secret. */
export function valueOf(object: SecretObject | undefined, key: string): string | undefined {
  const encoded = object?.data?.[key];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

/** What a Secret of ours has besides, such as labels by which it is found. */
export interface SecretExtras {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** With it, an apply fails when somebody, such as an operator before us, has written since. */
  readonly resourceVersion?: string | undefined;
}

/** A Secret of ours, which goes with the control plane. */
export function ownSecret(
  props: SecretProps,
  type: string,
  values: Readonly<Record<string, string>>,
  { labels, ...extras }: SecretExtras = {},
): RenderedObject {
  return {
    apiVersion: Secret.apiVersion,
    kind: Secret.kind,
    metadata: {
      name: props.name,
      namespace: props.namespace,
      labels: { ...objectLabels(props.cluster, 'certificates'), ...labels },
      ownerReferences: [props.owner],
      ...definedOnly(extras),
    },
    type,
    data: encodedData(values),
  };
}

/** The values of a Secret as its `data`. Never `stringData`: a key removed from that stays in the object for ever. */
export function encodedData(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
}
