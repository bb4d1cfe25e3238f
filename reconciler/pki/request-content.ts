import type { CertificateSigningRequestObject } from '../../imports/kubernetes.ts';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';
import { parsedRequest } from './parsed.ts';

/** Content of a PKCS #10 request. */
export interface RequestContent {
  /** Every part of the subject as `O=system:nodes`, sorted. */
  readonly subject: readonly string[];
  /** DNS names and addresses, in the form of {@link canonicalHost}. */
  readonly hosts: readonly { readonly type: 'dns' | 'ip'; readonly host: string }[];
  /** Types of other names, such as `email`. */
  readonly otherNames: readonly string[];
  /** DER of its public key. The API server has verified that the requester has the private half. */
  readonly publicKey: Buffer;
}

/** Contents by their requests in the cache, which live until they are answered. */
const known = new WeakMap<CertificateSigningRequestObject, RequestContent | undefined>();

/** The content of a request, which is parsed only the first time. @returns undefined as {@link readRequest} does */
export function contentOf(request: CertificateSigningRequestObject): RequestContent | undefined {
  if (!known.has(request)) known.set(request, readRequest(request.spec?.request ?? ''));
  return known.get(request);
}

/**
 * Reads the request of a CertificateSigningRequest.
 * @returns undefined if it cannot be parsed, or contains anything that another parser may interpret differently: only
 * one extension of one attribute may contain names
 */
function readRequest(base64: string): RequestContent | undefined {
  try {
    const request = parsedRequest(Buffer.from(base64, 'base64').toString('utf8'));
    const [extension, ...others] = request.extensions;
    if (request.attributes.length > 1 || others.length > 0) return undefined;
    if (extension && !(extension instanceof x509.SubjectAlternativeNameExtension)) return undefined;
    const names = extension?.names.items ?? [];
    return {
      subject: request.subjectName
        .toJSON()
        .flatMap((part) => Object.entries(part).flatMap(([type, values]) => values.map((value) => `${type}=${value}`)))
        .sort(),
      hosts: names.flatMap(({ type, value }) =>
        type === 'dns' || type === 'ip' ? [{ type, host: canonicalHost(value) }] : [],
      ),
      otherNames: names.map(({ type }) => type).filter((type) => type !== 'dns' && type !== 'ip'),
      publicKey: Buffer.from(request.publicKey.rawData),
    };
  } catch {
    return undefined;
  }
}
