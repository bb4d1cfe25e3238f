import { Deployment, Secret } from '../../constructs/api/resources.ts';
import { encryptionConfigurationFile } from '../../constructs/control-plane/api-server-flags.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { type Beginning, begin } from '../encryption-at-rest/beginning.ts';
import { takeStep } from '../encryption-at-rest/carry-out.ts';
import { choose, encryptionFacts, encryptionReport } from '../encryption-at-rest/keys.ts';
import { encryptionSecret, readEncryptionKeys, reconfigured } from '../encryption-at-rest/secret.ts';
import type { KubeObject } from '../kube/object.ts';
import { done, InvalidConfiguration, type Outcome, wait } from '../outcome.ts';
import type { SecretObject } from '../pki/secret.ts';
import type { Phase, Scope } from '../scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { secretProps } from './secret-props.ts';

/**
 * The keys with which API servers encrypt Secrets, and their rotation. While keys change everything else goes on: no API
 * server ever meets a Secret that it cannot read. Keys that are lost stop the line, for new ones could read nothing.
 */
export const encryptionAtRest: Phase = {
  condition: 'EncryptionAtRestReady',
  // Not the restore, during which everything that ever was stored has to become readable.
  needs: [etcdCertificates, certificates],
  async run(scope): Promise<Outcome> {
    const name = namesOf(scope.cluster.name).secrets.encryption;
    const secret = scope.world.get<SecretObject>(Secret, name);
    return secret ? goOn(scope, name, secret) : beginning(scope, name);
  },
};

/** A Secret that a user has restored carries no label of ours, so that no event tells when it is back. */
const recheckMs = 30_000;

async function goOn(scope: Scope, name: string, secret: SecretObject): Promise<Outcome> {
  const keys = readEncryptionKeys(secret);
  if (keys) return takeStep(scope, { props: secretProps(scope, name), secret, keys });
  return wait(
    'EncryptionKeysInvalid',
    `Secret ${name} has no configuration of ours in ${encryptionConfigurationFile}: restore it from a backup`,
    { afterMs: recheckMs },
  );
}

async function beginning(scope: Scope, name: string): Promise<Outcome> {
  const hasStarted = apiServersOf(scope) !== undefined || isInitialized(scope);
  const step = decideBeginning(scope, name, hasStarted);
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
      const { rotation = '' } = scope.cluster.spec.encryptionAtRest ?? {};
      const none = { providers: [], retired: [] };
      const made = reconfigured(none, choose(step.providers, none, scope.now), rotation);
      // The first API servers start with it.
      const keys = { ...made, isLoaded: !hasStarted };
      const live = await scope.writer.createOnce<SecretObject>(encryptionSecret(secretProps(scope, name), keys));
      const stored = scope.world.get<SecretObject>(Secret, name) ?? (await takeOver(scope, name, live));
      const found = readEncryptionKeys(stored);
      if (!found) return goOn(scope, name, stored);
      return done(encryptionFacts(name, found), undefined, { report: encryptionReport(found, scope) });
    }
  }
}

/** Makes a Secret of the user ours, so that the watch sees it, and so that it goes with the control plane. */
async function takeOver(scope: Scope, name: string, found: SecretObject): Promise<SecretObject> {
  const keys = readEncryptionKeys(found);
  if (!keys) return found;
  const [taken] = await scope.writer.apply<SecretObject>([encryptionSecret(secretProps(scope, name), keys, found)]);
  return taken ?? found;
}

function decideBeginning(scope: Scope, name: string, hasStarted: boolean): Beginning {
  const { spec } = scope.cluster;
  const wanted = spec.encryptionAtRest?.provider;
  const isUsersOwn = spec.deployment.apiServer.args?.['encryption-provider-config'] !== undefined;
  if (isUsersOwn && wanted === 'secretbox') {
    throw new InvalidConfiguration(
      'InvalidConfiguration',
      'encryptionAtRest.provider and the argument encryption-provider-config of the API server contradict each other: remove one',
    );
  }
  return begin({
    wanted,
    hasStarted,
    isConfigured: JSON.stringify(apiServersOf(scope) ?? {}).includes(`"name":"${name}"`),
    reported: scope.hostedControlPlane.status?.encryptionAtRest?.provider,
    isUsersOwn,
  });
}

function apiServersOf({ cluster, world }: Scope): KubeObject | undefined {
  return world.get(Deployment, namesOf(cluster.name).apiServer);
}

function isInitialized({ hostedControlPlane }: Scope): boolean {
  return hostedControlPlane.status?.initialization?.controlPlaneInitialized ?? false;
}
