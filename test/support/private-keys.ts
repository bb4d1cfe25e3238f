/** How the base64 of a PKCS#8 key begins: the header without its length, for P-256 and for RSA. */
const encodedKeys = ['AgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQ', 'IBADANBgkqhkiG9w0BAQEFAASC'];

const deepest = 4;

/**
 * The part of a text that contains a private key: as PEM, as the body of one, or as base64 of either, also if that is base64
 * encoded again, as in the kubeconfig of a Secret.
 */
export function privateKeyIn(text: string, depth = 0): string | undefined {
  const plain = /-----BEGIN [A-Z ]*PRIVATE KEY-----/.exec(text)?.[0] ?? encodedKeys.find((key) => text.includes(key));
  if (plain !== undefined) return plain;
  if (depth === deepest) return undefined;
  for (const [run] of text.matchAll(/[A-Za-z0-9+/]{32,}/g)) {
    // A run may begin with characters that are not part of it.
    for (const start of [0, 1, 2, 3]) {
      if (privateKeyIn(Buffer.from(run.slice(start), 'base64').toString('latin1'), depth + 1)) return run.slice(0, 40);
    }
  }
  return undefined;
}
