import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isKeyOf, readCertificate } from '../certificate.ts';
import { renewalTime } from '../policy.ts';

export interface IssuedCA {
  /** PEM of the certificate that came back. */
  readonly certificate: string;
  /** PEM of the key it was asked for. */
  readonly key: string;
  readonly commonName: string;
  /** Name of the Secret that shall hold it. */
  readonly secret: string;
  readonly now: Date;
}

type Check = (issued: IssuedCA) => string | undefined;

/**
 * What is wrong with an authority that an issuer has signed, as a clause for a person; undefined when it can be used.
 * An issuer decides itself what it puts into a certificate, whatever it was asked for.
 */
export function issuedProblem(issued: IssuedCA): string | undefined {
  try {
    for (const check of [ofKey, isCA, asNamed, mayIssue, livesLongEnough]) {
      const problem = check(issued);
      if (problem) return problem;
    }
    return undefined;
  } catch {
    return 'it cannot be read';
  }
}

const ofKey: Check = ({ certificate, key }) => (isKeyOf(certificate, key) ? undefined : 'it is for another key');

const isCA: Check = ({ certificate }) =>
  readCertificate(certificate).isCA
    ? undefined
    : 'it is not that of an authority (basic constraints CA: false, or a key usage without keyCertSign)';

const asNamed: Check = ({ certificate, commonName }) =>
  readCertificate(certificate).commonNames.includes(commonName)
    ? undefined
    : `its common name is not ${commonName}, by which certificates name who has signed them`;

/** Limits that hold for everything it signs: servers and clients, of any name. */
const mayIssue: Check = ({ certificate }) => {
  const parsed = new x509.X509Certificate(certificate);
  const extended = parsed.getExtension(x509.ExtendedKeyUsageExtension)?.usages.map(String);
  const needed = [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth];
  if (extended && !extended.includes(anyUsage) && !needed.every((usage) => extended.includes(usage))) {
    return 'its extended key usage does not let it sign for servers and clients';
  }
  if (parsed.getExtension(nameConstraints)) return 'it is limited to some names (name constraints)';
  return undefined;
};

const anyUsage = '2.5.29.37.0';
const nameConstraints = '2.5.29.30';

const livesLongEnough: Check = ({ certificate, secret, now }) => {
  const { notBefore, notAfter } = readCertificate(certificate);
  const hours = Math.floor((notAfter.getTime() - notBefore.getTime()) / 3_600_000);
  if (hours < leastHours) return `it lives ${hours}h, and clients need ${leastHours}h to learn of a successor in time`;
  // Left over from something that was given up long ago.
  if (now >= renewalTime(certificate, secret)) return 'half of its life has passed already';
  return undefined;
};

/** As for authorities that sign themselves. */
const leastHours = 24;
