import type { Resource } from '../../constructs/api/resources.ts';

/** An object in the namespace of the Cluster. */
export interface NamedObject {
  readonly resource: Resource;
  readonly name: string;
}

/** Where a certificate with its key, or a key alone, is stored. */
interface KeyPlace {
  readonly secret: string;
  /** Key of the certificate in the Secret. */
  readonly certificate: string;
  /** Key of the private key in the Secret. */
  readonly key: string;
}

/** Where a PEM text is stored. */
export interface TextPlace {
  readonly secret: string;
  readonly key: string;
}

/** The etcd that belongs to one control plane only. */
export interface EtcdPlace {
  /** The StatefulSet, from whose name those of its volume claims derive. */
  readonly set: NamedObject;
  /** Name of the claim template. */
  readonly claimTemplate: string;
  /** What clients trust. */
  readonly ca: TextPlace;
  /** The identity of a client. */
  readonly client: KeyPlace;
}

/** A control plane that another provider has made: where its parts are, and what cannot be carried over. */
export interface OtherControlPlane {
  readonly provider: ProviderName;
  /** Its name among the objects of the provider. */
  readonly name: string;
  /** Everything that uses etcd, in the order in which it is stopped. */
  readonly servers: readonly NamedObject[];
  /** Undefined if etcd is shared with other control planes, or if there is none. */
  readonly etcd: EtcdPlace | undefined;
  readonly clusterCA: KeyPlace;
  /** All certificates of cluster CAs that workers may trust or present; the CA alone when undefined. */
  readonly trusted: TextPlace | undefined;
  /** The private key that signs service account tokens. */
  readonly serviceAccountKey: TextPlace;
  /** Issuer of these tokens, unless the arguments of the API server name another one. */
  readonly issuer: string;
  /** Objects that would get in the way, in the order of their deletion. Volume claims of etcd come after them. */
  readonly leftovers: readonly NamedObject[];
  /** Sentences about what cannot be carried over. */
  readonly notCarriedOver: readonly string[];
}

/** The providers whose control planes can be imported, by the name in messages. */
export const providerNames = ['teutonet', 'k0smotron', 'Kamaji'] as const;
export type ProviderName = (typeof providerNames)[number];
