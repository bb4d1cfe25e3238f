import { describe, expect, it } from 'vitest';
import { contentFaults, parseManifest, serializeManifest, type Manifest } from '../../../reconciler/backup/manifest.ts';

const backup = { time: Date.parse('2026-11-21T09:15:31.123Z'), revision: 4711 };
const manifest: Manifest = {
  formatVersion: 1,
  namespace: 'team-a',
  cluster: 'prod',
  clusterId: 'cdf818194e3a8c32',
  time: '2026-11-21T09:15:31.123Z',
  revision: 4711,
  sha256: 'ab'.repeat(32),
  sizeBytes: 20_512,
  etcdVersion: '3.6.16',
  kubernetesVersion: 'v1.36.3',
  keys: { total: 3, byResource: { '/registry/secrets': 2, '/registry/pods': 1 } },
  encryption: { keyId: '2026' },
  objects: { snapshot: 'snapshot.db.encrypted' },
};

describe('a manifest', () => {
  it('is read as it was written', () => {
    expect(parseManifest(serializeManifest(manifest), backup)).toEqual(manifest);
  });

  it.each<[string, string, string]>([
    ['is cut off', serializeManifest(manifest).slice(0, 100), 'is not JSON: it is damaged, use another backup'],
    ['is of a newer format', JSON.stringify({ ...manifest, formatVersion: 2 }), 'a newer version of the provider'],
    ['has no hash', JSON.stringify({ ...manifest, sha256: undefined }), 'sha256: '],
    [
      'contains a path outside of its folder',
      JSON.stringify({ ...manifest, objects: { snapshot: '../x/s.db' } }),
      'objects.snapshot',
    ],
    ['is for another time', serializeManifest({ ...manifest, time: '2026-11-20T09:15:31.123Z' }), 'belongs to backup'],
    ['is for another revision', serializeManifest({ ...manifest, revision: 1 }), '31.123Z-1: use another backup'],
  ])('that %s is refused', (_, text, message) => {
    expect(() => parseManifest(text, backup)).toThrow(message);
  });
});

describe('the content of a restored backup', () => {
  const { sha256, sizeBytes, revision, keys } = manifest;
  const good = { sha256, sizeBytes, revision, keys };
  const onePodLess = { total: 2, byResource: { '/registry/secrets': 2 } };
  it.each([
    ['matches the manifest', good, []],
    ['has another hash', { ...good, sha256: 'cd'.repeat(32) }, [`the hash is ${'cd'.repeat(32)} instead of ${sha256}`]],
    ['has another size', { ...good, sizeBytes: 1 }, ['the size is 1 bytes instead of 20512']],
    ['is too old', { ...good, revision: 4 }, ['the newest revision is 4, but 4711 was backed up']],
    [
      'lacks a key',
      { ...good, keys: onePodLess },
      ['there are 2 keys of all resources instead of 3', 'there are 0 keys of /registry/pods instead of 1'],
    ],
    ['has later writes too', { ...good, revision: 4712 }, []],
  ])('that %s', (_, found, expected) => {
    expect(contentFaults(manifest, found)).toEqual(expected);
  });
});
