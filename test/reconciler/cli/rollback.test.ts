import { describe, expect, it } from 'vitest';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import type { StoredBackup } from '../../../reconciler/backup/cluster-backups.ts';
import type { Manifest } from '../../../reconciler/backup/manifest.ts';
import { readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { describeRollback, type Loss } from '../../../reconciler/cli/rollback.ts';
import { backupBefore, rollbackVersions, versionToLeave } from '../../../reconciler/cli/rollback/plan-rollback.ts';
import { hostedControlPlaneObject, spec } from '../../support/scope.ts';

const running = (...versions: readonly string[]): Partial<HostedControlPlaneStatus> => ({
  versions: versions.map((version) => ({ version, replicas: 1 })),
});
const controlPlane = (version: string, status: Partial<HostedControlPlaneStatus> = {}, etcd: object = {}) =>
  readControlPlane(hostedControlPlaneObject({ spec: { ...spec, version, etcd: { replicas: 3, ...etcd } }, status }));

describe('the version to leave', () => {
  it.each([
    ['that of all API servers', controlPlane('v1.37.1', running('v1.37.1')), 'v1.37.1'],
    ['the newest one in the middle of an upgrade', controlPlane('v1.37.1', running('v1.36.4', 'v1.37.1')), 'v1.37.1'],
    ['the same while a way back waits', controlPlane('v1.36.4', running('v1.37.1')), 'v1.37.1'],
  ])('is %s', (_, found, expected) => expect(versionToLeave(found)).toBe(expected));

  it.each([
    ['nothing has run', controlPlane('v1.37.1'), /has run yet/],
    [
      'the upgrade has not begun',
      controlPlane('v1.37.1', running('v1.36.4')),
      /set the version back to v1\.36\.4, and/,
    ],
  ])('is none when %s', (_, found, message) => expect(() => versionToLeave(found)).toThrow(message));
});

const stored = (time: number): StoredBackup => ({ time, revision: time, isVerified: false, owner: 'uid' });
const manifest = (kubernetesVersion: string, changes: Partial<Manifest> = {}): Manifest => ({
  formatVersion: 1,
  namespace: 'team',
  cluster: 'c1',
  clusterId: '1267',
  time: '2026-11-21T09:15:31.123Z',
  revision: 4711,
  sha256: '0'.repeat(64),
  sizeBytes: 1,
  etcdVersion: '3.6.8',
  kubernetesVersion,
  keys: { total: 0, byResource: {} },
  objects: { snapshot: 'snapshot.db' },
  ...changes,
});

describe('the backup to go back to', () => {
  const found = async (...versions: readonly (string | undefined)[]) => {
    const own = versions.map((_, index) => stored(versions.length - index));
    const manifests = new Map(own.map((backup, index) => [backup, versions[index]]));
    const manifestOf = async (backup: StoredBackup) => {
      const version = manifests.get(backup);
      return version === undefined ? undefined : manifest(version);
    };
    return (await backupBefore('v1.37.1', own, manifestOf)).manifest.kubernetesVersion;
  };

  it.each([
    ['the newest of the minor before', ['v1.37.1', 'v1.36.4', 'v1.36.3'], 'v1.36.4'],
    ['one behind another whose manifest is damaged', [undefined, 'v1.36.3'], 'v1.36.3'],
  ])('is %s', async (_, versions, expected) => expect(await found(...versions)).toBe(expected));

  it.each([
    ['there are only those of this minor', ['v1.37.1', 'v1.37.0']],
    ['there are only those of earlier minors', ['v1.37.1', 'v1.35.8', 'v1.36.3']],
    ['there are none', []],
  ])('is none when %s', async (_, versions) => {
    await expect(found(...versions)).rejects.toThrow(/no backup of Kubernetes 1\.36/);
  });
});

describe('the versions of a way back', () => {
  const versions = (topology?: string, etcd: object = {}) => {
    const members = [{ name: 'c1-etcd-0', role: 'Leader' as const, version: '3.7.0' }];
    const found = controlPlane('v1.37.1', { ...running('v1.37.1'), etcd: { members } }, etcd);
    return rollbackVersions(found, 'v1.37.1', manifest('v1.36.4'), topology);
  };

  it('are those of the backup, with the etcd of that minor', () => {
    expect(versions()).toEqual({
      from: 'v1.37.1',
      to: 'v1.36.4',
      etcdFrom: '3.7.0',
      etcdTo: '3.6.8',
      problem: undefined,
    });
  });

  it('keep an etcd that the spec names', () => {
    expect(versions(undefined, { version: '3.7.0' }).etcdTo).toBe('3.7.0');
  });

  it('wait for a topology, which would set the version again', () => {
    expect(versions('v1.37.1').problem).toMatch(/disable-update-version-check.*set it to v1\.36\.4/);
  });

  it('follow a topology that has gone down', () => {
    expect(versions('v1.36.3')).toMatchObject({ to: 'v1.36.3', problem: undefined });
  });
});

describe('what a user confirms', () => {
  const text = (loss: Loss, changes: Partial<Manifest> = {}, isVerified = false) => {
    const described = { backup: { ...stored(0), isVerified }, manifest: manifest('v1.36.4', changes) };
    const found = { from: 'v1.37.1', to: 'v1.36.4', etcdFrom: '3.7.0', etcdTo: '3.6.8' };
    return describeRollback('c1', found, described, loss, 3 * 3_600_000).join('\n');
  };

  it('names the versions, the backup with its reason, and the changes of each resource', () => {
    const loss = new Map([
      ['/registry/pods', { changed: 12, created: 3, deleted: 1 }],
      ['/registry/services/specs', { changed: 0, created: 1, deleted: 0 }],
    ]);
    const found = text(loss, { takenFor: ['change:Kubernetes 1.36 to 1.37'] }, true);
    expect(found).toContain('c1 goes back from Kubernetes v1.37.1 to v1.36.4, and from etcd 3.7.0 to 3.6.8.');
    expect(found).toContain('taken 3h ago for the change of Kubernetes 1.36 to 1.37, and was verified.');
    expect(found).toContain('\n  pods: 12 changed, 3 created, 1 deleted\n  services/specs: 1 created\n');
  });

  it.each<[string, Loss, string]>([
    ['nothing has changed', new Map(), 'No key of etcd has changed since then.'],
    ['etcd does not answer', 'no member of etcd is ready', 'cannot be counted: no member of etcd is ready.'],
  ])('says when %s', (_, loss, expected) => expect(text(loss)).toContain(expected));
});
