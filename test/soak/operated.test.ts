import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigMap, PersistentVolume, Secret } from '../../constructs/api/resources.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { readCertificate } from '../../reconciler/pki/certificate.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { BackupWorkbench, unverifiedBackup, verifiedBackup } from '../support/backup-workbench.ts';
import { until } from '../support/until.ts';
import { single } from '../support/workbench.ts';
import { hostedCluster } from '../support/scope.ts';
import { otherApiService, otherFieldManager } from '../cluster/cli/other-objects.ts';
import { makeOtherControlPlane, OutageClock, userOf } from '../cluster/cli/other-control-plane.ts';

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

const hcp = (...args: string[]) => bench.hcp.run(...args, '-n', namespace).ended;
const hcpImport = (...args: string[]) => bench.hcp.runProgram('hcp-import', ...args, '-n', namespace).ended;
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
    expect((await hcp('list', '--store', 'backups')).out).toMatch(
      new RegExp(`^${namespace}/c1 .* \\d+s ago +ready$`, 'm'),
    );

    expect(await hostedConfigMaps('after')).toEqual(['after', 'before']);
    const restored = await hcp('restore', 'c1', '--backup', name, '--yes', '--wait');
    expect(restored.err).toContain(`Backup ${name} replaces all data of c1.`);
    expect(restored).toMatchObject({ code: 0, out: expect.stringMatching(`^${name} restored to revision \\d+\n$`) });
    expect(await hostedConfigMaps('new')).toEqual(['before', 'new']);
  },
  4 * limitMs,
);

interface VolumeObject extends KubeObject {
  readonly spec?: { readonly claimRef?: { readonly namespace?: string; readonly name?: string } };
  readonly status?: { readonly phase?: string };
}

/** The volumes of the claims of a Cluster's etcd, whether these claims still exist or not. */
async function volumesOf(cluster: string): Promise<string[]> {
  const { items } = await bench.client.list<VolumeObject>(PersistentVolume);
  const prefix = `etcd-data-${cluster}-etcd-`;
  return items
    .filter(({ spec }) => spec?.claimRef?.namespace === namespace && spec.claimRef.name?.startsWith(prefix))
    .map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)
    .sort();
}

test(
  "a control plane of teutonet's provider is moved: its data, workers and tokens stay, its volumes are kept",
  async () => {
    const spec = { ...single, etcd: { replicas: 1, backup: unverifiedBackup } };
    const other = await makeOtherControlPlane(bench, 'c2', spec);
    const { administrator, node, olderNode, token } = other.clients;
    await bench.untilCondition('c2', 'Ready', { reason: 'ForeignControlPlane' }, limitMs);
    const theirs = await volumesOf('c2');
    expect(theirs).toHaveLength(3);

    const preview = await hcpImport('cluster', 'c2');
    expect(preview).toMatchObject({
      code: 0,
      out: expect.stringContaining('Nothing was changed. The import begins with --yes'),
    });
    expect(await userOf(token)).toBe('system:serviceaccount:default:app');

    const clock = new OutageClock(administrator);
    const moved = { ...(await hcpImport('cluster', 'c2', '--yes')), at: performance.now() };
    expect(moved.err).toContain('storing and checking the final snapshot');
    expect(moved).toMatchObject({ code: 0, out: expect.stringContaining('the API was unavailable for ') });
    await until('a write after the import', () => userOf(token).catch(() => undefined), limitMs);
    const { longestMs, writes } = await clock.stop();
    console.log(
      `import: no write for ${(longestMs / 1000).toFixed(1)} s, ${writes} writes in all; ${moved.out.trim()}`,
    );

    expect(await userOf(node)).toBe('system:node:w1');
    expect(await userOf(olderNode)).toBe('system:node:w2');
    expect(await userOf(token)).toBe('system:serviceaccount:default:app');
    const kept = await administrator.get<KubeObject & { data?: { write?: string } }>(ConfigMap, named('before'));
    expect(Number(kept.data?.write)).toBe(writes - 1);
    await bench.untilReady('c2', limitMs);
    const { spec: live, status } = await bench.get('c2');
    expect(live.controlPlaneEndpoint).toEqual({ host: other.address, port: 6443 });
    expect(status?.serviceAccountIssuer).toBe('https://kubernetes.default.svc');

    const year = Date.now() + 365 * 24 * 3_600_000;
    const [signs, ...trusted] = await until(
      'the successor of the CA to sign',
      async () => {
        const ca = await bench.client.get<SecretObject>(Secret, { namespace, name: 'c2-ca' });
        const ends = splitCertificates(valueOf(ca, 'tls.crt') ?? '').map((one) => readCertificate(one).notAfter);
        return (ends[0]?.getTime() ?? 0) > year && ends;
      },
      limitMs,
    );
    console.log(`import: the successor of the CA signs after ${((performance.now() - moved.at) / 1000).toFixed(1)} s`);
    expect([signs, ...trusted]).toHaveLength(3);
    expect(await until('an answer', () => userOf(node).catch(() => undefined))).toBe('system:node:w1');

    const released = theirs.map((volume) => volume.replace(/Bound$/, 'Released'));
    expect(await volumesOf('c2')).toEqual(expect.arrayContaining(released));
    expect((await hcpImport('delete-volumes', 'c2', '--yes')).code).toBe(0);
    await until('the kept volumes to be gone', async () => (await volumesOf('c2')).length === 1, limitMs);
    expect(await bench.client.find(Secret, { namespace, name: 'c2-import' })).toBeUndefined();
    await other.close();
  },
  4 * limitMs,
);

test("the load balancer of teutonet's provider becomes a Service behind a Gateway", async () => {
  const options = { fieldManager: otherFieldManager, force: true };
  await bench.client.apply(otherApiService({ namespace, cluster: 'c3' }), options);
  const gateway = { namespace: 'capi-system', name: 'capi' };
  const cluster = { ...hostedCluster({ exposure: undefined, gateway }), namespace, name: 'c3' };
  const [service] = renderControlPlane(cluster, { certificates: {}, mounts: {} }, 'api-server-service');
  if (!service) throw new Error('no Service is rendered');
  const live = await bench.client.apply<KubeObject & { spec?: object }>(service, options);
  expect(live.spec).toMatchObject({ type: 'ClusterIP', ports: [{ port: 6443 }, { port: 8132 }, { port: 6444 }] });
  expect(JSON.stringify(live)).not.toContain('nodePort');
});
