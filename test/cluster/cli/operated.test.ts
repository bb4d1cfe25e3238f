import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { BackupWorkbench, verifiedBackup } from '../../support/backup-workbench.ts';
import { runHcp } from '../../support/hcp.ts';
import { until } from '../../support/until.ts';
import { single } from '../../support/workbench.ts';

const namespace = 'operated';
const fieldManager = 'test';
/** The machine may be busy. */
const limitMs = 180_000;
let bench: BackupWorkbench;

beforeAll(async () => {
  bench = await BackupWorkbench.start({ namespace });
  await bench.create('c1', { ...single, etcd: { replicas: 1, backup: verifiedBackup } });
  await bench.untilReady('c1', limitMs);
});
afterAll(() => bench.close());

const hcp = (...args: string[]) => runHcp(inject('kubeconfig'), [...args, '-n', namespace]).ended;
const named = (name: string) => ({ namespace: 'default', name });

/** Writes into the hosted cluster once it answers, and returns which writes exist. */
async function hostedConfigMaps(write: string): Promise<string[]> {
  const hosted = await bench.hosted('c1');
  try {
    const { apiVersion, kind } = ConfigMap;
    const object = { apiVersion, kind, metadata: named(write) };
    await until('a write to the hosted cluster', () =>
      hosted.apply(object, { fieldManager, force: true }).catch(() => undefined),
    );
    const { items } = await hosted.list(ConfigMap, { namespace: 'default' });
    return items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  } finally {
    await hosted.connection.close();
  }
}

test(
  'the command line backs up a cluster, lists its backup as verified, and restores it',
  async () => {
    await hostedConfigMaps('before');
    const taken = await hcp('backup', 'c1', '--wait');
    expect(taken.err).not.toContain('hcp:');
    const name = taken.out.trim();
    expect(name).toMatch(/^2\d{3}-.*Z-\d+$/);

    const listed = await until(
      'a verified backup',
      async () => {
        const { out } = await hcp('backups', 'c1');
        return out.includes('restored in ') && out;
      },
      limitMs,
    );
    expect(listed.split('\n').some((line) => line.startsWith(name))).toBe(true);
    expect((await hcp('served', 'backups')).out).toMatch(new RegExp(`^${namespace}/c1 +\\d+s ago +ready$`, 'm'));

    expect(await hostedConfigMaps('after')).toEqual(['after', 'before']);
    const restored = await hcp('restore', 'c1', '--backup', name, '--yes', '--wait');
    expect(restored.err).toContain(`Backup ${name} replaces all data of c1.`);
    expect(restored).toMatchObject({ code: 0, out: expect.stringMatching(`^${name} restored to revision \\d+\n$`) });
    expect(await hostedConfigMaps('new')).toEqual(['before', 'new']);
  },
  4 * limitMs,
);
