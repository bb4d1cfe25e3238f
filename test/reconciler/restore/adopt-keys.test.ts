import { describe, expect, it } from 'vitest';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { identity, type Key, nameOf, newKey } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import { secretProps } from '../../../reconciler/pki/secret-props.ts';
import type { SecretObject } from '../../../reconciler/pki/secret.ts';
import { adoptKeys } from '../../../reconciler/restore/adopt-keys.ts';
import { Killed, MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const name = 'c1-encryption';
// made later than our own
const foreign = newKey(new Date(now.getTime() + 3_600_000), []);
const none = { spec: { encryptionAtRest: { provider: 'None' } } };
const running = { status: { initialization: { controlPlaneInitialized: true } } };
const restoring = { status: { etcd: { restore: { request: 'any', startTime: '2026-11-21T12:00:00Z' } } } };

const secretIn = (world: MemoryWorld) => world.get<SecretObject & StoredObject>(Secret, name);

function keysIn(world: MemoryWorld): EncryptionKeys {
  const secret = secretIn(world);
  const keys = secret && readEncryptionKeys(secret);
  if (!keys) throw new Error('there are no keys');
  return keys;
}

function adopted(world: MemoryWorld, changes: ScopeChanges = {}, keys: readonly Key[] = [foreign]) {
  const scope = scopeOf(world, changes);
  return adoptKeys(scope, secretProps(scope, name), keys);
}

/** A control plane whose encryption phase has run. */
async function begun(changes: ScopeChanges = {}): Promise<MemoryWorld> {
  const world = new MemoryWorld();
  await encryptionAtRest.run(scopeOf(world, changes));
  return world;
}

describe('keys of a backup', () => {
  it.each<[string, () => Promise<MemoryWorld>, ScopeChanges, RegExp]>([
    ['that encrypts', () => begun(), {}, /^key-\d+,key-\d+,identity$/],
    ['that stores in clear', () => begun(none), none, /^identity,key-\d+$/],
    ['that stored in clear before there was a choice', async () => new MemoryWorld(), running, /^identity,key-\d+$/],
    ['that has just been made', async () => new MemoryWorld(), {}, /^key-\d+,key-\d+,identity$/],
  ])('can be read with in a control plane %s once the restore has begun', async (_, made, changes, expected) => {
    const world = await made();
    expect(await adopted(world, changes)).toBeUndefined();
    expect(keysIn(world).retired).toEqual([foreign]);
    expect(keysIn(world).providers).not.toContainEqual(foreign);
    const status = { ...changes.status, ...restoring.status };
    expect(await encryptionAtRest.run(scopeOf(world, { ...changes, status }))).toMatchObject({
      kind: 'degraded',
      facts: { encryptionAtRest: true },
    });
    expect(keysIn(world).providers.map(nameOf).join()).toMatch(expected);
    expect(keysIn(world).providers).toContainEqual(foreign);
    expect(nameOf(keysIn(world).providers[0] ?? identity)).not.toBe(foreign.name);
  });

  it('are written once, also when the operator dies before or after that', async () => {
    for (const world of [await begun(), new MemoryWorld()]) {
      const before = world.writes.length;
      world.dieAfter(0);
      await expect(adopted(world)).rejects.toThrow(Killed);
      for (let life = 0; life < 3; life++) {
        world.restart();
        expect(await adopted(world)).toBeUndefined();
      }
      expect(world.writes.length).toBe(before + 1);
      expect(keysIn(world).retired).toEqual([foreign]);
    }
  });

  it('join those of a Secret that a user has restored, which is ours from then on', async () => {
    const world = await begun();
    const secret = secretIn(world)!;
    const { labels: _, ownerReferences: __, ...metadata } = secret.metadata;
    world.put({ ...secret, metadata });
    expect(await adopted(world)).toBeUndefined();
    expect(keysIn(world).retired).toEqual([foreign]);
  });

  it('change nothing when there are none', async () => {
    const world = new MemoryWorld();
    expect(await adopted(world, {}, [])).toBeUndefined();
    expect(world.writes).toEqual([]);
  });

  it("are the user's business where the configuration is", async () => {
    const world = new MemoryWorld();
    const args = { 'encryption-provider-config': '/etc/mine.yaml' };
    expect(await adopted(world, { spec: { deployment: { apiServer: { args } } } })).toBeUndefined();
    expect(world.writes).toEqual([]);
  });
});

describe('nothing is written, and said why, when', () => {
  async function refused(world: MemoryWorld, keys?: readonly Key[], changes?: ScopeChanges): Promise<string> {
    const before = world.writes.length;
    const sentence = (await adopted(world, changes, keys)) ?? 'nothing is in the way';
    expect(world.writes.length).toBe(before);
    for (const secret of [foreign.secret, ...(keys ?? []).map((key) => key.secret)])
      expect(sentence).not.toContain(secret);
    return sentence;
  }

  it('there is another key of the same name', async () => {
    const world = await begun();
    const [own = identity] = keysIn(world).providers;
    expect(await refused(world, [{ ...foreign, name: nameOf(own) }])).toBe(
      `Secrets of the backup are stored under ${nameOf(own)}, and Secret ${name} has another key of that name: restore the backup into a new Cluster`,
    );
  });

  it('our own keys are lost', async () => {
    const world = new MemoryWorld();
    const { apiVersion, kind } = Deployment;
    const volumes = [{ secret: { name } }];
    world.put({
      apiVersion,
      kind,
      metadata: { name: 'c1-api-server', labels: objectLabels('c1', 'api-server') },
      volumes,
    });
    expect(await refused(world, undefined, { status: { encryptionAtRest: { provider: 'secretbox' } } })).toContain(
      `Secret ${name} is gone`,
    );
  });

  it('our Secret holds something else', async () => {
    const world = await begun();
    world.put({ ...secretIn(world)!, data: {} });
    expect(await refused(world)).toContain('has no configuration of ours');
  });
});
