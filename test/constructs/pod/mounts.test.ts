import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Mounts } from '../../../constructs/api/mount-spec.ts';
import { mountsOf } from '../../../constructs/pod/mounts.ts';
import { Rendered } from '../../support/rendered-cluster.ts';

const mounts = {
  policies: { path: '/etc/policies', configMap: { name: 'policies', items: [{ key: 'a', path: 'b', mode: 256 }] } },
  credentials: { path: '/etc/credentials', secret: { secretName: 'credentials', defaultMode: 288, optional: true } },
};
const spec = { deployment: { apiServer: { mounts } } };

describe('mounts of a user', () => {
  it('become volumes as the user writes them, sorted by name', () => {
    expect(mountsOf(mounts)).toEqual([
      {
        path: '/etc/credentials',
        kind: 'Secret',
        object: 'credentials',
        optional: true,
        volume: {
          name: 'mount-credentials',
          secret: { secretName: 'credentials', defaultMode: 288, optional: true },
        },
      },
      {
        path: '/etc/policies',
        kind: 'ConfigMap',
        object: 'policies',
        optional: false,
        volume: {
          name: 'mount-policies',
          configMap: { name: 'policies', items: [{ key: 'a', path: 'b', mode: 256 }] },
        },
      },
    ]);
    expect(mountsOf()).toEqual([]);
  });

  it('appear in the API server only, read-only', () => {
    const { containers } = new Rendered({ spec }).workload('c1-api-server');
    const ofUsers = containers.map(({ name, volumeMounts = [] }) => [
      name,
      volumeMounts.filter((mount) => mount.name.startsWith('mount-')),
    ]);
    expect(ofUsers).toEqual([
      [
        'kube-apiserver',
        [
          { name: 'mount-credentials', mountPath: '/etc/credentials', readOnly: true },
          { name: 'mount-policies', mountPath: '/etc/policies', readOnly: true },
        ],
      ],
      ['konnectivity-server', []],
    ]);
  });

  it('cannot be at any path of the operator, or above and below one, but at /etc/kubernetes', () => {
    const issuer = { audiences: ['a'], claimMappings: { username: 'claims.sub' } };
    const audit = {
      policy: { rules: [{ level: 'Metadata' }] },
      webhook: { targets: [{ server: 'https://a.example' }] },
    };
    const all = { oidcProviders: { 'https://issuer.example': issuer }, deployment: { apiServer: { audit } } };
    const { containers } = new Rendered({ spec: all }).workload('c1-api-server');
    const own = containers
      .filter(({ name }) => name === 'kube-apiserver')
      .flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ mountPath }) => mountPath));
    expect(own).toHaveLength(6);
    const accepts = (path: string) => Mounts.safeParse({ a: { path, configMap: { name: 'a' } } }).success;
    for (const path of own) {
      const parents = [dirname(path)].filter((parent) => parent !== '/etc/kubernetes');
      expect([path, `${path}/`, `${path}/a`, ...parents].filter(accepts)).toEqual([]);
      expect(accepts(`${path}-of-mine`)).toBe(true);
    }
  });

  it('replace the pods when their content changes, and for no other reason', () => {
    const template = (checksum: string) => {
      const facts = { mounts: { 'ConfigMap/policies': checksum } };
      return new Rendered({ spec }, facts).workload('c1-api-server').template;
    };
    expect(template('1')).toEqual(template('1'));
    expect(template('2')).not.toEqual(template('1'));
  });
});
