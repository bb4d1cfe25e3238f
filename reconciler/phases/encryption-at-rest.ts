import { recheckMs } from '../management/users-objects.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { encryptionConfigurationFile } from '../../constructs/control-plane/api-server/flags.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { EncryptionContext } from '../encryption-at-rest/context.ts';
import { executeStep } from '../encryption-at-rest/execute.ts';
import { planInitialConfiguration, firstKeys } from '../encryption-at-rest/first-keys.ts';
import { encryptionFacts, encryptionReport } from '../encryption-at-rest/keys.ts';
import { encryptionSecret, readEncryptionKeys } from '../encryption-at-rest/secret.ts';
import { done, type Outcome, wait } from '../engine/outcome.ts';
import type { SecretObject } from '../pki/secret.ts';
import { phase } from './scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { secretProps } from '../pki/secret-props.ts';

/**
 * The keys with which API servers encrypt Secrets, and their rotation. While keys change everything else goes on: no API
 * server ever meets a Secret that it cannot read. Keys that are lost stop the line, for new ones could read nothing.
 */
export const encryptionAtRest = phase({
  condition: 'EncryptionAtRestReady',
  // Not the restore, during which everything that ever was stored has to become readable.
  needs: [etcdCertificates, certificates],
  async run(scope): Promise<Outcome> {
    const name = namesOf(scope.cluster.name).secrets.encryption;
    const secret = scope.reader.get<SecretObject>(Secret, name);
    return secret ? goOn(scope, name, secret) : initialConfiguration(scope, name);
  },
});

async function goOn(scope: EncryptionContext, name: string, secret: SecretObject): Promise<Outcome> {
  const keys = readEncryptionKeys(secret);
  if (keys) return executeStep(scope, { props: secretProps(scope, name), secret, keys });
  return wait(
    'EncryptionKeysInvalid',
    `Secret ${name} has no configuration of ours in ${encryptionConfigurationFile}: restore it from a backup`,
    { afterMs: recheckMs },
  );
}

async function initialConfiguration(scope: EncryptionContext, name: string): Promise<Outcome> {
  const step = planInitialConfiguration(scope);
  switch (step.kind) {
    case 'lost': {
      const found = await scope.writer.read<SecretObject>(Secret, name);
      if (found) return goOn(scope, name, await takeOver(scope, name, found));
      return wait(
        'EncryptionKeysMissing',
        `Secret ${name} is gone; Secrets of the cluster are stored under its keys, so it is not made anew: restore it from a backup`,
        { afterMs: recheckMs },
      );
    }
    case 'clear':
      return done({}, undefined, { report: { encryptionAtRest: { provider: 'None' } } });
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

/** Makes a Secret of the user ours, so that the watch sees it, and so that it goes with the control plane. */
async function takeOver(scope: EncryptionContext, name: string, found: SecretObject): Promise<SecretObject> {
  const keys = readEncryptionKeys(found);
  if (!keys) return found;
  const [taken] = await scope.writer.apply<SecretObject>([encryptionSecret(secretProps(scope, name), keys, found)]);
  return taken ?? found;
}
