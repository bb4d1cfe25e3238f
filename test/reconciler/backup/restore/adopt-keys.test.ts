import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { describe, expect, it } from 'vitest';
import { Deployment, Secret } from '../../../../constructs/api/resources.ts';
import { objectLabels } from '../../../../constructs/cluster/labels.ts';
import { identity, type Key, nameOf, newKey } from '../../../../reconciler/encryption-at-rest/configuration.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../../../reconciler/encryption-at-rest/secret.ts';
import { encryptionAtRest } from '../../../../reconciler/phases/encryption-at-rest.ts';
import { secretProps } from '../../../../reconciler/certificates/secret-props.ts';
import { Killed, MemoryObjects, type StoredObject } from '../../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../../support/scope.ts';
import { adoptKeys } from '../../../../reconciler/phases/restore.ts';

const name = 'c1-encryption';
// created later than those of the control plane
const restoredKey = newKey(new Date(now.getTime() + 3_600_000), []);
const none = { spec: { encryptionAtRest: { provider: 'None' } } };
const running = { status: { initialization: { controlPlaneInitialized: true } } };
const restoring = { status: { etcd: { restore: { request: 'any', startTime: '2026-11-21T12:00:00Z' } } } };

const secretIn = (management: MemoryObjects) => management.get<SecretObject & StoredObject>(Secret, name);

function keysIn(management: MemoryObjects): EncryptionKeys {
  const secret = secretIn(management);
  const keys = secret && readEncryptionKeys(secret);
  if (!keys) throw new Error('there are no keys');
  return keys;
}

function adopted(management: MemoryObjects, changes: ScopeChanges = {}, keys: readonly Key[] = [restoredKey]) {
  const scope = scopeOf(management, changes);
  return adoptKeys(scope, secretProps(scope, name), keys);
}

/** A control plane whose encryption phase has run. */
async function begun(changes: ScopeChanges = {}): Promise<MemoryObjects> {
  const management = new MemoryObjects();
  await encryptionAtRest.run(scopeOf(management, changes));
  return management;
}

describe('keys of a backup', () => {
  it.each<[string, () => Promise<MemoryObjects>, ScopeChanges, RegExp]>([
    ['that encrypts', () => begun(), {}, /^key-\d+,key-\d+,identity$/],
    ['that stores Secrets unencrypted', () => begun(none), none, /^identity,key-\d+$/],
    [
      'that stored Secrets unencrypted without a choice in its spec',
      async () => new MemoryObjects(),
      running,
      /^identity,key-\d+$/,
    ],
    ['that has just been created', async () => new MemoryObjects(), {}, /^key-\d+,key-\d+,identity$/],
  ])('can be read with in a control plane %s once the restore has started', async (_, made, changes, expected) => {
    const management = await made();
    expect(await adopted(management, changes)).toBeUndefined();
    expect(keysIn(management).retired).toEqual([restoredKey]);
    expect(keysIn(management).providers).not.toContainEqual(restoredKey);
    const status = { ...changes.status, ...restoring.status };
    expect(await encryptionAtRest.run(scopeOf(management, { ...changes, status }))).toMatchObject({
      kind: 'degraded',
      facts: { encryptionAtRest: true },
    });
    expect(keysIn(management).providers.map(nameOf).join()).toMatch(expected);
    expect(keysIn(management).providers).toContainEqual(restoredKey);
    expect(nameOf(keysIn(management).providers[0] ?? identity)).not.toBe(restoredKey.name);
  });

  it('are written once, also if the operator dies before or after that', async () => {
    for (const management of [await begun(), new MemoryObjects()]) {
      const before = management.writes.length;
      management.dieAfter(0);
      await expect(adopted(management)).rejects.toThrow(Killed);
      for (let run = 0; run < 3; run++) {
        management.restart();
        expect(await adopted(management)).toBeUndefined();
      }
      expect(management.writes.length).toBe(before + 1);
      expect(keysIn(management).retired).toEqual([restoredKey]);
    }
  });

  it('are added to those of a Secret that a user has restored, which the operator adopts', async () => {
    const management = await begun();
    const secret = secretIn(management)!;
    const { labels: _, ownerReferences: __, ...metadata } = secret.metadata;
    management.put({ ...secret, metadata });
    expect(await adopted(management)).toBeUndefined();
    expect(keysIn(management).retired).toEqual([restoredKey]);
  });

  it('change nothing if there are none', async () => {
    const management = new MemoryObjects();
    expect(await adopted(management, {}, [])).toBeUndefined();
    expect(management.writes).toEqual([]);
  });

  it('are left to the user if the user manages the configuration', async () => {
    const management = new MemoryObjects();
    const args = { 'encryption-provider-config': '/etc/mine.yaml' };
    expect(await adopted(management, { spec: { deployment: { apiServer: { args } } } })).toBeUndefined();
    expect(management.writes).toEqual([]);
  });
});

describe('nothing is written, and the reason is reported, when', () => {
  async function refused(management: MemoryObjects, keys?: readonly Key[], changes?: ScopeChanges): Promise<string> {
    const before = management.writes.length;
    const sentence = (await adopted(management, changes, keys)) ?? 'nothing is in the way';
    expect(management.writes.length).toBe(before);
    for (const secret of [restoredKey.secret, ...(keys ?? []).map((key) => key.secret)])
      expect(sentence).not.toContain(secret);
    return sentence;
  }

  it('there is another key of the same name', async () => {
    const management = await begun();
    const [own = identity] = keysIn(management).providers;
    expect(await refused(management, [{ ...restoredKey, name: nameOf(own) }])).toBe(
      `Secrets of the backup are encrypted with ${nameOf(own)}, but Secret ${name} has another key of that name: restore the backup into a new Cluster`,
    );
  });

  it('the keys of the control plane are lost', async () => {
    const management = new MemoryObjects();
    const { apiVersion, kind } = Deployment;
    const volumes = [{ secret: { name } }];
    management.put({
      apiVersion,
      kind,
      metadata: { name: 'c1-api-server', labels: objectLabels('c1', 'api-server') },
      volumes,
    });
    expect(await refused(management, undefined, { status: { encryptionAtRest: { provider: 'secretbox' } } })).toContain(
      `Secret ${name} does not exist`,
    );
  });

  it('the Secret of the keys has other content', async () => {
    const management = await begun();
    management.put({ ...secretIn(management)!, data: {} });
    expect(await refused(management)).toContain('has no valid encryption configuration');
  });
});
