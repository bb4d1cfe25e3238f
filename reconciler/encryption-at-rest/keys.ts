import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import type { StatusReport } from '../engine/status-report.ts';
import type { EncryptionContext } from './context.ts';
import { identity, type Key, nameOf, newKey, type Provider } from './configuration.ts';
import { fresh } from './rotation.ts';
import type { EncryptionKeys } from './secret.ts';

/** The providers with these names, from the current and the retired keys, and a new key where one is requested. */
export function choose(
  names: readonly string[],
  { providers, retired }: Pick<EncryptionKeys, 'providers' | 'retired'>,
  now: Date,
): Provider[] {
  const known: readonly Key[] = [...providers.filter((provider) => provider !== identity), ...retired];
  return names.flatMap((name): Provider[] => {
    if (name === identity) return [identity];
    if (name === fresh) return [newKey(now, known.map(nameOf))];
    return known.filter((key) => key.name === name).slice(0, 1);
  });
}

/** Facts for later phases: keys exist, and when to replace API servers that do not report what they have loaded. */
export function encryptionFacts(secret: string, { hash }: Pick<EncryptionKeys, 'hash'>): Partial<Facts> {
  return { encryptionAtRest: true, certificates: { [secret]: hash.slice('sha256:'.length) } };
}

/**
 * The status: `secretbox` as long as any Secret may be encrypted.
 * @param isSettled the requested rotation has ended
 */
export function encryptionReport(
  { providers, rotation }: Pick<EncryptionKeys, 'providers' | 'rotation'>,
  { hostedControlPlane }: Pick<EncryptionContext, 'hostedControlPlane'>,
  isSettled = false,
): StatusReport {
  const before = hostedControlPlane.status?.encryptionAtRest?.rotation;
  return {
    encryptionAtRest: {
      provider: providers.some((provider) => provider !== identity) ? 'secretbox' : 'None',
      ...definedOnly({ rotation: isSettled && rotation !== '' ? rotation : before }),
    },
  };
}
