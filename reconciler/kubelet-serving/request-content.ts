import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';

/** What a PKCS #10 request asks for. */
export interface RequestContent {
  /** Every part of the subject as `O=system:nodes`, sorted. */
  readonly subject: readonly string[];
  /** DNS names and addresses, as {@link canonicalHost} spells them. */
  readonly hosts: readonly { readonly type: 'dns' | 'ip'; readonly host: string }[];
  /** Kinds of other names it asks for, such as `email`. */
  readonly otherNames: readonly string[];
}

/**
 * Reads the request of a CertificateSigningRequest.
 * @returns undefined when it cannot be read, or holds anything that another reader may understand differently: names may
 * stand in one extension of one attribute only.
 */
export function readRequest(base64: string): RequestContent | undefined {
  try {
    const request = new x509.Pkcs10CertificateRequest(Buffer.from(base64, 'base64').toString('utf8'));
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
    };
  } catch {
    return undefined;
  }
}
