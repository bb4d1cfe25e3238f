import { describe, expect, it } from 'vitest';
import type { RecoveryBundle } from '../../../../reconciler/backup/recovery-bundle.ts';
import { StoreError } from '../../../../reconciler/backup/store/store-error.ts';
import {
  formatConfiguration,
  formatKeys,
  identity,
  newKey,
} from '../../../../reconciler/encryption-at-rest/configuration.ts';
import { readBackupKeys } from '../../../../reconciler/backup/restore/prepare.ts';
import { now } from '../../../support/scope.ts';

const first = newKey(now, []);
const second = newKey(now, [first.name]);
const base64 = (text: string) => Buffer.from(text).toString('base64');
const object = { apiVersion: 'v1', kind: 'Any', metadata: { namespace: 'old', name: 'c0' }, spec: {} };

function bundle(name: string, values: Readonly<Record<string, string>>): RecoveryBundle {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]));
  return { formatVersion: 1, hostedControlPlane: object, cluster: object, secrets: [{ name, data }] };
}

const own = { owner: { namespace: 'team', cluster: 'c0' }, isOwn: true };
const another = { ...own, isOwn: false };

async function* streamOf(content: string | Error): AsyncGenerator<Uint8Array> {
  if (content instanceof Error) throw content;
  yield Buffer.from(content.slice(0, 10));
  yield Buffer.from(content.slice(10));
}

describe('the keys in a recovery bundle', () => {
  const keysIn = (found: RecoveryBundle) => readBackupKeys(streamOf(JSON.stringify(found)), another);

  it('are the current and the retired ones', async () => {
    const values = {
      'config.yaml': formatConfiguration([second, identity]),
      'retired-keys.yaml': formatKeys([first]),
    };
    expect(await keysIn(bundle('c0-encryption', values))).toEqual([second, first]);
  });

  it('are none for a cluster that stored Secrets unencrypted', async () => {
    expect(await keysIn(bundle('c0-ca', { 'tls.key': 'any' }))).toEqual([]);
  });

  it('are not guessed', async () => {
    await expect(keysIn(bundle('c0-encryption', { 'config.yaml': `a: ${second.secret}` }))).rejects.toThrow(
      new Error(
        'the recovery bundle contains Secret c0-encryption without a valid encryption configuration: use another backup',
      ),
    );
  });
});

describe('the keys of a backup', () => {
  const good = JSON.stringify(bundle('c0-encryption', { 'config.yaml': formatConfiguration([first]) }));

  it.each([
    ['of another Cluster', another],
    ['of the Cluster itself, which may have been recreated', own],
  ])('%s are read from its recovery bundle', async (_, owner) => {
    expect(await readBackupKeys(streamOf(good), owner)).toEqual([first]);
  });

  const missing = new StoreError('ObjectNotFound', 'there is no such object');
  const away = new StoreError('Unavailable', 'away');
  it.each<[string, string | Error, string]>([
    ['the bundle is damaged', '{', 'the recovery bundle is not JSON'],
    ['the bundle is missing', missing, missing.message],
    ['the store does not answer', away, away.message],
  ])('of another Cluster are required although %s', async (_, content, message) => {
    await expect(readBackupKeys(streamOf(content), another)).rejects.toThrow(message);
  });

  it.each([
    ['damaged', '{'],
    ['missing', missing],
  ])('of the Cluster itself are not required if the bundle is %s', async (_, content) => {
    expect(await readBackupKeys(streamOf(content), own)).toEqual([]);
  });

  it('are waited for if the store does not answer', async () => {
    await expect(readBackupKeys(streamOf(away), own)).rejects.toThrow('away');
  });
});
