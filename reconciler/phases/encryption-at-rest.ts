import type { SecretObject } from '../../imports/kubernetes.ts';
import { recheckMs } from '../clusters/management/users-objects.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { encryptionConfigurationFile } from '../../constructs/control-plane/api-server/flags.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import {
  type EncryptionContext,
  rotateKeys,
  encryptionFacts,
  encryptionReport,
} from '../encryption-at-rest/rotate-keys.ts';
import { initialConfigurationFor, firstKeys } from '../encryption-at-rest/first-keys.ts';
import { encryptionSecret, readEncryptionKeys } from '../encryption-at-rest/secret.ts';
import { holdsEarlierData } from '../backup/restore/earlier-data.ts';
import { done, notRequested, type Outcome, wait } from '../engine/outcome.ts';
import { unlessRefused } from '../engine/refusals.ts';
import { takeBack } from '../certificates/kept-secrets.ts';
import { phase, type Scope } from './scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { secretProps } from '../certificates/secret-props.ts';

/**
 * The keys with which API servers encrypt Secrets, and their rotation. The control plane works while keys change: no
 * API server ever reads a Secret without its key. Lost keys stop the reconcile, because new keys could not decrypt
 * existing Secrets.
 */
export const encryptionAtRest = phase({
  condition: 'EncryptionAtRestReady',
  // It does not need the restore, during which all previously stored Secrets have to become readable.
  needs: [etcdCertificates, certificates],
  async run(scope): Promise<Outcome> {
    const name = namesOf(scope.cluster.name).secrets.encryption;
    const secret = scope.reader.get<SecretObject>(Secret, name);
    if (!secret) return initialConfiguration(scope, name);
    await takeBack(scope, secret, secretProps(scope, name));
    return goOn(scope, name, secret);
  },
});

type Context = EncryptionContext & Pick<Scope, 'onRefused'>;

async function goOn(scope: Context, name: string, secret: SecretObject): Promise<Outcome> {
  const keys = readEncryptionKeys(secret);
  if (keys) {
    const step = rotateKeys(scope, { props: secretProps(scope, name), secret, keys });
    const outcome = await unlessRefused(scope, secret, step);
    return outcome ?? done(encryptionFacts(name, keys), undefined, { report: encryptionReport(keys, scope) });
  }
  return wait(
    'EncryptionKeysInvalid',
    `Secret ${name} has no valid encryption configuration in ${encryptionConfigurationFile}: restore it from a backup`,
    { afterMs: recheckMs },
  );
}

async function initialConfiguration(scope: Context, name: string): Promise<Outcome> {
  const step = initialConfigurationFor(scope, holdsEarlierData(scope));
  switch (step.kind) {
    case 'lost': {
      const found = await scope.writer.read<SecretObject>(Secret, name);
      if (found) return goOn(scope, name, await takeOver(scope, name, found));
      return wait(
        'EncryptionKeysMissing',
        `Secret ${name} does not exist, and the operator does not create a new one, because Secrets of the cluster are encrypted with its keys: restore it from a backup${unlessInClear(scope)}`,
        { afterMs: recheckMs },
      );
    }
    case 'clear':
      return notRequested({ encryptionAtRest: { provider: 'None' } });
    case 'users':
      return done();
    case 'configure': {
      const keys = firstKeys(scope, step.providers);
      const live = await scope.writer.createOnce<SecretObject>(encryptionSecret(secretProps(scope, name), keys));
      const stored = scope.reader.get<SecretObject>(Secret, name) ?? (await takeOver(scope, name, live));
      const found = readEncryptionKeys(stored);
      if (!found) return goOn(scope, name, stored);
      return done(encryptionFacts(name, found), undefined, { report: encryptionReport(found, scope) });
    }
  }
}

/** The data of an earlier object shows no more than that there is some. */
function unlessInClear(scope: EncryptionContext): string {
  return holdsEarlierData(scope) ? ', or set encryptionAtRest.provider: None if it stored its Secrets unencrypted' : '';
}

/** Adopts a Secret of the user, so that the watch includes it, and so that it is deleted with the control plane. */
async function takeOver(scope: EncryptionContext, name: string, found: SecretObject): Promise<SecretObject> {
  const keys = readEncryptionKeys(found);
  if (!keys) return found;
  const [taken] = await scope.writer.apply<SecretObject>([encryptionSecret(secretProps(scope, name), keys, found)]);
  return taken ?? found;
}
