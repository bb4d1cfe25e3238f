import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { splitCertificates } from '../../reconciler/pki/pem.ts';

/** What one side of a TLS handshake presents, and how the other side verifies it. */
export interface Handshake {
  /** PEM: a certificate, followed by intermediate certificates. */
  readonly presented: string;
  /** PEM of all trusted certificates. */
  readonly trusted: string;
  readonly usage: 'server' | 'client';
  /** The name or address that the client connected to. */
  readonly host?: string | undefined;
}

/** The time window in which a chain can be verified. */
export interface Window {
  readonly from: number;
  readonly until: number;
}

const usageOids = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
/** A certificate, and one more for each CA rotation since its root was trusted. */
const longestChain = 8;

/**
 * All times at which the handshake succeeds, one window for each chain from the presented certificate to a trusted one. As in
 * Go every certificate of a chain counts, the trusted one too; signatures are checked, not only names.
 */
export function windowsOf({ presented, trusted, usage, host }: Handshake): readonly Window[] {
  const known = answers.get(presented)?.get(trusted);
  const question = `${usage} ${host ?? ''}`;
  const before = known?.get(question);
  if (before) return before;
  const [leaf, ...between] = certificatesOf(presented);
  const fits = leaf?.keyUsage?.includes(usageOids[usage]) && (host === undefined || isFor(leaf, host));
  const found = leaf && fits ? chainsFrom(leaf, between, certificatesOf(trusted), 1) : [];
  remember({ presented, trusted, question }, found);
  return found;
}

/** Whether one of the chains can be verified now. */
export function verifies(handshake: Handshake, now: number): boolean {
  return windowsOf(handshake).some(({ from, until }) => from <= now && now <= until);
}

/** The certificates of a PEM text, cached: parsing one takes 0.1 ms, and a simulation parses a million times. */
export function certificatesOf(pem: string): readonly X509Certificate[] {
  const known = parsed.get(pem);
  if (known) return known;
  const certificates = splitCertificates(pem).map((block) => new X509Certificate(block));
  parsed.set(pem, certificates);
  return certificates;
}

function chainsFrom(
  certificate: X509Certificate,
  between: readonly X509Certificate[],
  trusted: readonly X509Certificate[],
  length: number,
): Window[] {
  if (length === longestChain) return [];
  const own = windowOf(certificate);
  const endings = trusted.filter((root) => hasSigned(root, certificate)).map(windowOf);
  const detours = between
    .filter((other) => hasSigned(other, certificate))
    .flatMap((other) => chainsFrom(other, between, trusted, length + 1));
  return [...endings, ...detours].map((rest) => ({
    from: Math.max(own.from, rest.from),
    until: Math.min(own.until, rest.until),
  }));
}

function hasSigned(signer: X509Certificate, certificate: X509Certificate): boolean {
  return signer.ca && certificate.checkIssued(signer) && certificate.verify(signer.publicKey);
}

function windowOf({ validFromDate, validToDate }: X509Certificate): Window {
  return { from: validFromDate.getTime(), until: validToDate.getTime() };
}

function isFor(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined;
}

const parsed = new Map<string, readonly X509Certificate[]>();
const answers = new Map<string, Map<string, Map<string, readonly Window[]>>>();

function remember(
  { presented, trusted, question }: { presented: string; trusted: string; question: string },
  found: readonly Window[],
): void {
  const byTrust = answers.get(presented) ?? new Map<string, Map<string, readonly Window[]>>();
  const byQuestion = byTrust.get(trusted) ?? new Map<string, readonly Window[]>();
  answers.set(presented, byTrust.set(trusted, byQuestion.set(question, found)));
}
