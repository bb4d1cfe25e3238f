import type { SecretObject } from '../../imports/kubernetes.ts';
import { clusterSecretType, group, keyFinalizer } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { type OwnerReference, type RenderedObject } from '../../constructs/control-plane/chart.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import type { KeyPair } from './issue.ts';
import { bundle } from './pem.ts';

export interface SecretProps {
  readonly name: string;
  readonly namespace: string;
  /** Name of the Cluster it belongs to. */
  readonly cluster: string;
  readonly owner: OwnerReference;
}

/** Secret types by their reader. Cluster API and its bootstrap providers read only their own type. */
const types = { clusterApi: clusterSecretType, tls: 'kubernetes.io/tls' } as const;

/**
 * The Secret of a key pair, which cannot be made again. Secrets are created here and not in a chart, so that no rendered object
 * contains key material.
 */
export function pairSecret(props: SecretProps, type: keyof typeof types, pair: KeyPair): RenderedObject {
  const values = { 'tls.crt': pair.certificate, 'tls.key': pair.key };
  return ownSecret(props, types[type], values, { finalizers: [keyFinalizer] });
}

/**
 * The Secret of an issued certificate. Like cert-manager's, it contains the signer too, for components that must know
 * exactly the signing CA, and not all trusted CAs.
 * @param chain certificates for clients that trust only an earlier CA
 */
export function leafSecret(
  props: SecretProps,
  { certificate, key }: KeyPair,
  { signer, chain }: { readonly signer: string; readonly chain: readonly string[] },
): RenderedObject {
  return ownSecret(props, types.tls, { 'ca.crt': signer, 'tls.crt': bundle(certificate, ...chain), 'tls.key': key });
}

/** The Secret from which Cluster API reads the kubeconfig of a cluster. */
export function kubeconfigSecret(props: SecretProps, kubeconfig: string): RenderedObject {
  return ownSecret(props, types.clusterApi, { value: kubeconfig });
}

/** On the Secret of a kubeconfig that the spec declares: its name there. */
export const declaredLabel = `${group}/declared-kubeconfig`;

/** The Secret of a kubeconfig that the spec declares. Cluster API does not read it. */
export function declaredSecret(props: SecretProps, declared: string, kubeconfig: string): RenderedObject {
  return ownSecret(props, 'Opaque', { value: kubeconfig }, { labels: { [declaredLabel]: declared } });
}

/** The key pair of a Secret; undefined if the Secret does not exist or one of the two values is missing. */
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

/** Additional metadata of a Secret, such as labels to find it by. */
export interface SecretExtras {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: string[];
  /** With it, an apply fails if another client, such as a previous operator, has written since. */
  readonly resourceVersion?: string | undefined;
}

/** A Secret of the operator, which is deleted with the control plane. */
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

/** The values of a Secret as its `data`. Never `stringData`: a key that is removed from it stays in the object. */
export function encodedData(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  );
}
