import { createHash, createPublicKey, X509Certificate } from 'node:crypto';

/** The certificates of a PEM bundle, in their order. Text around them is ignored. */
export function splitCertificates(pem: string): string[] {
  return pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
}

/** Concatenates PEM blocks, each ending in a newline: without it two blocks become one unreadable one. */
export function bundle(...blocks: readonly string[]): string {
  return blocks.map((block) => (block.endsWith('\n') ? block : `${block}\n`)).join('');
}

/**
 * SHA-256 of the public part of a PEM block, as lower-case hex: of the certificates themselves, or of a public key.
 * Safe to show: nothing secret can be derived from it.
 * @throws when the text is neither.
 */
export function fingerprint(pem: string): string {
  const certificates = splitCertificates(pem).map((block) => new X509Certificate(block).raw);
  const parts = certificates.length > 0 ? certificates : [createPublicKey(pem).export({ type: 'spki', format: 'der' })];
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
