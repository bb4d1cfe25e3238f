import { describe, expect, it } from 'vitest';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { identity, type Key, nameOf, newKey } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import { secretProps } from '../../../reconciler/pki/secret-props.ts';
import type { SecretObject } from '../../../reconciler/pki/secret.ts';
import { adoptKeys } from '../../../reconciler/restore/adopt-keys.ts';
import { Killed, MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const name = 'c1-encryption';
// made later than our own
const foreign = newKey(new Date(now.getTime() + 3_600_000), []);
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

function adopted(management: MemoryObjects, changes: ScopeChanges = {}, keys: readonly Key[] = [foreign]) {
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
    ['that stores in clear', () => begun(none), none, /^identity,key-\d+$/],
    ['that stored in clear before there was a choice', async () => new MemoryObjects(), running, /^identity,key-\d+$/],
    ['that has just been made', async () => new MemoryObjects(), {}, /^key-\d+,key-\d+,identity$/],
  ])('can be read with in a control plane %s once the restore has begun', async (_, made, changes, expected) => {
    const management = await made();
    expect(await adopted(management, changes)).toBeUndefined();
    expect(keysIn(management).retired).toEqual([foreign]);
    expect(keysIn(management).providers).not.toContainEqual(foreign);
    const status = { ...changes.status, ...restoring.status };
    expect(await encryptionAtRest.run(scopeOf(management, { ...changes, status }))).toMatchObject({
      kind: 'degraded',
      facts: { encryptionAtRest: true },
    });
    expect(keysIn(management).providers.map(nameOf).join()).toMatch(expected);
    expect(keysIn(management).providers).toContainEqual(foreign);
    expect(nameOf(keysIn(management).providers[0] ?? identity)).not.toBe(foreign.name);
  });

  it('are written once, also when the operator dies before or after that', async () => {
    for (const management of [await begun(), new MemoryObjects()]) {
      const before = management.writes.length;
      management.dieAfter(0);
      await expect(adopted(management)).rejects.toThrow(Killed);
      for (let life = 0; life < 3; life++) {
        management.restart();
        expect(await adopted(management)).toBeUndefined();
      }
      expect(management.writes.length).toBe(before + 1);
      expect(keysIn(management).retired).toEqual([foreign]);
    }
  });

  it('join those of a Secret that a user has restored, which is ours from then on', async () => {
    const management = await begun();
    const secret = secretIn(management)!;
    const { labels: _, ownerReferences: __, ...metadata } = secret.metadata;
    management.put({ ...secret, metadata });
    expect(await adopted(management)).toBeUndefined();
    expect(keysIn(management).retired).toEqual([foreign]);
  });

  it('change nothing when there are none', async () => {
    const management = new MemoryObjects();
    expect(await adopted(management, {}, [])).toBeUndefined();
    expect(management.writes).toEqual([]);
  });

  it("are the user's business where the configuration is", async () => {
    const management = new MemoryObjects();
    const args = { 'encryption-provider-config': '/etc/mine.yaml' };
    expect(await adopted(management, { spec: { deployment: { apiServer: { args } } } })).toBeUndefined();
    expect(management.writes).toEqual([]);
  });
});

describe('nothing is written, and said why, when', () => {
  async function refused(management: MemoryObjects, keys?: readonly Key[], changes?: ScopeChanges): Promise<string> {
    const before = management.writes.length;
    const sentence = (await adopted(management, changes, keys)) ?? 'nothing is in the way';
    expect(management.writes.length).toBe(before);
    for (const secret of [foreign.secret, ...(keys ?? []).map((key) => key.secret)])
      expect(sentence).not.toContain(secret);
    return sentence;
  }

  it('there is another key of the same name', async () => {
    const management = await begun();
    const [own = identity] = keysIn(management).providers;
    expect(await refused(management, [{ ...foreign, name: nameOf(own) }])).toBe(
      `Secrets of the backup are encrypted with ${nameOf(own)}, but Secret ${name} has another key of that name: restore the backup into a new Cluster`,
    );
  });

  it('our own keys are lost', async () => {
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

  it('our Secret holds something else', async () => {
    const management = await begun();
    management.put({ ...secretIn(management)!, data: {} });
    expect(await refused(management)).toContain('has no valid encryption configuration');
  });
});
