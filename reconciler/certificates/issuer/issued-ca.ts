import { firstMatch } from '../../engine/first-match.ts';
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isKeyOf, readCertificate } from '../../pki/certificate.ts';
import { parsedCertificate } from '../../pki/parsed.ts';
import { renewalTime } from '../../pki/reissue-policy.ts';

interface IssuedCA {
  /** PEM of the returned certificate. */
  readonly certificate: string;
  /** PEM of the key of the request. */
  readonly key: string;
  readonly commonName: string;
  /** Name of the Secret for it. */
  readonly secret: string;
  readonly now: Date;
}

type Check = (issued: IssuedCA) => string | undefined;

/**
 * The problem with a CA that an issuer has signed, as a clause for the user; undefined if it is usable. An issuer may
 * ignore parts of the request.
 */
export function issuedProblem(issued: IssuedCA): string | undefined {
  try {
    return firstMatch([ofKey, isCA, asNamed, mayIssue, livesLongEnough], issued);
  } catch {
    return 'it cannot be read';
  }
}

const ofKey: Check = ({ certificate, key }) => (isKeyOf(certificate, key) ? undefined : 'it is for another key');

const isCA: Check = ({ certificate }) =>
  readCertificate(certificate).isCA
    ? undefined
    : 'it is not a CA certificate (basic constraints CA: false, or a key usage without keyCertSign)';

const asNamed: Check = ({ certificate, commonName }) =>
  readCertificate(certificate).commonNames.includes(commonName)
    ? undefined
    : `its common name is not ${commonName}, by which certificates refer to their issuer`;

/** Limits that would apply to everything it signs: servers and clients, with any name. */
const mayIssue: Check = ({ certificate }) => {
  const parsed = parsedCertificate(certificate);
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String);
  const needed = [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth];
  if (extended && !extended.includes(anyUsage) && !needed.every((usage) => extended.includes(usage))) {
    return 'its extended key usage does not allow certificates for servers and clients';
  }
  if (parsed.getExtension(nameConstraints)) return 'name constraints limit it to some names';
  return undefined;
};

const anyUsage = '2.5.29.37.0';
const nameConstraints = '2.5.29.30';

const livesLongEnough: Check = ({ certificate, secret, now }) => {
  const { notBefore, notAfter } = readCertificate(certificate);
  const hours = Math.floor((notAfter.getTime() - notBefore.getTime()) / 3_600_000);
  if (hours < leastHours)
    return `its lifetime is ${hours}h, but clients need ${leastHours}h to trust a successor in time`;
  if (now < notBefore) return `it is not valid before ${notBefore.toISOString()}`;
  // A leftover of an earlier attempt.
  if (now >= renewalTime(certificate, secret)) return 'half of its lifetime has passed';
  return undefined;
};

/** As for self-signed CAs. */
const leastHours = 24;
