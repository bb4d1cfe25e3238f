import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import type { SecretObject } from '../../../imports/kubernetes.ts';
import { requestedForLabel } from '../../../constructs/api/group.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { CertificateRequest } from '../../../constructs/api/resources.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import type { KubeObject } from '../../kube/object.ts';
import { ownSecret, type SecretProps, valueOf } from '../../pki/secret.ts';

interface CertificateRequestProps extends SecretProps {
  /** The Secret for the CA. */
  readonly requestedFor: string;
  readonly issuerRef: IssuerRef;
  /** PEM of the PKCS#10 request. */
  readonly signingRequest: string;
  readonly durationSeconds: number;
}

/** A request for a CA to a cert-manager issuer. It is immutable: another attempt is another object. */
export function certificateRequest(props: CertificateRequestProps): RenderedObject {
  const { name, namespace, cluster, owner, requestedFor, issuerRef, signingRequest, durationSeconds } = props;
  return {
    apiVersion: CertificateRequest.apiVersion,
    kind: CertificateRequest.kind,
    metadata: {
      name,
      namespace,
      labels: { ...objectLabels(cluster, 'certificates'), [requestedForLabel]: requestedFor },
      ownerReferences: [owner],
    },
    spec: {
      request: Buffer.from(signingRequest, 'utf8').toString('base64'),
      isCA: true,
      usages: ['cert sign', 'crl sign', 'digital signature'],
      duration: `${durationSeconds}s`,
      issuerRef: { name: issuerRef.name, kind: issuerRef.kind, group: issuerRef.group },
    },
  };
}

/** The name of one attempt to certify a key. */
export function requestName(secret: string, hash: string, attempt: number): string {
  return `${secret}-${hash}-${attempt}`;
}

/** The attempt number of a request for this key; undefined if it is for another key. */
export function attemptOf({ metadata }: KubeObject, secret: string, hash: string): number | undefined {
  const prefix = `${secret}-${hash}-`;
  const attempt = metadata.name.startsWith(prefix) ? Number(metadata.name.slice(prefix.length)) : Number.NaN;
  return Number.isInteger(attempt) ? attempt : undefined;
}

/** Whether a request is for this issuer. Missing fields of a reference have cert-manager's defaults. */
export function isTo({ spec }: CertificateRequestObject, { name, kind, group }: IssuerRef): boolean {
  const given = spec?.issuerRef;
  return given?.name === name && (given.kind ?? 'Issuer') === kind && (given.group ?? 'cert-manager.io') === group;
}

/** The Secret with the key of a requested CA. @param requestedFor the Secret for both */
export function requestSecret(props: SecretProps, requestedFor: string, key: string): RenderedObject {
  return ownSecret(props, 'Opaque', { 'tls.key': key }, { labels: { [requestedForLabel]: requestedFor } });
}

/** The stored key; empty if there is none. */
export function requestedKey(secret: SecretObject): string {
  return valueOf(secret, 'tls.key') ?? '';
}

/** The Secret for which an object was created. */
export function requestedFor({ metadata }: Pick<SecretObject, 'metadata'>): string | undefined {
  return metadata.labels?.[requestedForLabel];
}
