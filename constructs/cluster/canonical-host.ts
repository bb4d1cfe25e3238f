import { isIP } from 'node:net';

/** A host as it appears in a certificate: addresses in their shortest form, names in lower case. */
export function canonicalHost(host: string): string {
  return isIP(host) === 6 ? new URL(`http://[${host}]`).hostname.slice(1, -1) : host.toLowerCase();
}
