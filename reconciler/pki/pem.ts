import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { remembered } from './remembered.ts';

const begin = '-----BEGIN ';

/** The certificates of a PEM bundle, in their order. Other text is ignored. */
export function splitCertificates(pem: string): string[] {
  return blocksOf(pem, ['CERTIFICATE']);
}

/** Concatenates PEM blocks, each with a trailing newline. Without it, two blocks become one unreadable block. */
export function bundle(...blocks: readonly string[]): string {
  return blocks.map((block) => (block.endsWith('\n') ? block : `${block}\n`)).join('');
}

/**
 * SHA-256 of the public part of a PEM block, in lowercase hexadecimal: of the certificates, or of a public key. Safe to
 * show, because nothing secret can be derived from it.
 * @throws if the text is neither
 */
export const fingerprint = remembered((pem: string) => hashOf(publicParts(pem)));

/**
 * The fingerprint of all certificates or public keys of a text, independent of their order: trust in all of them does
 * not depend on which one signs.
 * @throws if the text contains neither
 */
export const trustFingerprint = remembered((pem: string) =>
  hashOf(publicParts(pem).sort((a, b) => Buffer.compare(a, b))),
);

/**
 * The fingerprint of the first certificate or public key of a text, which signs.
 * @throws if the text contains neither
 */
export const signerFingerprint = remembered((pem: string) => hashOf(publicParts(pem).slice(0, 1)));

/** The public keys of a text with several PEM blocks, in their order. PKCS#1 keys of users are included. */
export function splitPublicKeys(pem: string): string[] {
  return blocksOf(pem, ['PUBLIC KEY', 'RSA PUBLIC KEY']);
}

/** The blocks with one of these labels, each with its line end. One without an end is other text. */
function blocksOf(pem: string, labels: readonly string[]): string[] {
  const blocks: string[] = [];
  for (let at = pem.indexOf(begin); at >= 0; at = pem.indexOf(begin, at)) {
    const start = at;
    const label = labels.find((one) => pem.startsWith(`${one}-----`, start + begin.length));
    at += begin.length;
    if (label === undefined) continue;
    const content = at + label.length + 5;
    // No line of base64 has a dash.
    const dash = pem.indexOf('-', content);
    const end = `-----END ${label}-----`;
    if (dash <= content || !pem.startsWith(end, dash)) continue;
    at = dash + end.length;
    blocks.push(pem.slice(start, pem[at] === '\n' ? at + 1 : at));
  }
  return blocks;
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
