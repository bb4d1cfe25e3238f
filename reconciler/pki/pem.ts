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
  return hashOf(publicParts(pem));
}

/**
 * The fingerprint of all certificates or public keys of a text, in whatever order they stand: who trusts them all does
 * not care which of them signs.
 * @throws when the text holds neither.
 */
export function trustFingerprint(pem: string): string {
  return hashOf(publicParts(pem).sort((a, b) => Buffer.compare(a, b)));
}

/**
 * The fingerprint of the first certificate or public key of a text: the one that signs.
 * @throws when the text holds neither.
 */
export function signerFingerprint(pem: string): string {
  return hashOf(publicParts(pem).slice(0, 1));
}

/** The public keys of a text with several PEM blocks, in their order; of a user's also those of PKCS#1. */
export function splitPublicKeys(pem: string): string[] {
  return pem.match(/-----BEGIN (RSA )?PUBLIC KEY-----[^-]+-----END (RSA )?PUBLIC KEY-----\n?/g) ?? [];
}

function publicParts(pem: string): Buffer[] {
  const certificates = splitCertificates(pem).map((block) => new X509Certificate(block).raw);
  if (certificates.length > 0) return certificates;
  const keys = splitPublicKeys(pem);
  return (keys.length > 0 ? keys : [pem]).map((key) => createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

function hashOf(parts: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
