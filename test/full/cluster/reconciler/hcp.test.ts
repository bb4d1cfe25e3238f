import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { fieldManager as operatorName } from '../../../../constructs/api/group.ts';
import { Deployment, HostedControlPlane, Secret, SelfSubjectReview } from '../../../../constructs/api/resources.ts';
import { newestRevision } from '../../../../constructs/cluster/release-revisions.ts';
import { diff } from '../../../../reconciler/cli/diff.ts';
import { pause, resume } from '../../../../reconciler/cli/pause.ts';
import { status } from '../../../../reconciler/cli/status.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { type SecretObject, valueOf } from '../../../../reconciler/pki/secret.ts';
import { hcp } from '../../../cluster/reconciler/hcp-command.ts';
import { hostedClient } from '../../../support/hosted-client.ts';
import { borrow } from '../../../support/lent/borrow.ts';
import { until } from '../../../support/until.ts';
import { single } from '../../../support/workbench.ts';

const bench = borrow('plain', { restartsPods: true });
const { namespace } = bench;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'diff-'));
});
afterAll(async () => {
  await bench.undo();
  await rm(directory, { recursive: true, force: true });
});

/** A file with the HostedControlPlane as its owner would apply it. */
async function fileWith(spec: object): Promise<string> {
  const { apiVersion, kind } = HostedControlPlane;
  const file = join(directory, 'control-plane.yaml');
  await writeFile(file, stringify({ apiVersion, kind, metadata: { name: 'c1-cp' }, spec: { ...single, ...spec } }));
  return file;
}

test('hcp diff says what a changed file would restart, stores nothing, and quotes a refusal', async () => {
  const { metadata } = await bench.get('c1');
  const flags = { deployment: { scheduler: { args: { v: '4' } } } };
  const lines = (
    await hcp(bench, diff, await fileWith({ ...flags, etcd: { replicas: 1, volumeRetention: 'Retain' } }))
  ).split('\n');
  expect(lines).toContainEqual(expect.stringMatching(/^spec\.deployment\.scheduler\.args +unset -> \{"v":"4"\}$/));
  expect(lines).toContainEqual(
    expect.stringMatching(/^spec\.etcd\.volumeRetention +.* -> Retain +set by test +decides whether/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^Deployment c1-scheduler +rolling restart +spec\.template/));
  expect(lines.at(-1)).toMatch(/would change c1: data at risk$/);
  expect(lines.filter((line) => /restart|reload|pods added/.test(line))).toHaveLength(1);
  expect(await hcp(bench, diff, await fileWith({}))).toMatch(/changes nothing of c1$/);
  expect(await hcp(bench, diff, await fileWith({ version: 'v1.99.0' }))).toMatch(/spec\.version/);
  expect((await bench.get('c1')).metadata.resourceVersion).toBe(metadata.resourceVersion);
});

test('hcp diff of a live control plane names what others have set, and what another release revision would change', async () => {
  const same = 'only the operator has set fields of the objects of c1';
  expect(await hcp(bench, diff)).toBe(same);
  const earlier = await hcp(bench, diff, 'c1', { 'release-revision': '1' });
  expect(earlier).toMatch(/^Deployment c1-api-server +rolling restart +spec\.template/m);
  expect(earlier).toMatch(/release revision 1 would change c1: rolling restart$/);
  expect(await hcp(bench, diff, 'c1', { 'release-revision': String(newestRevision) })).toMatch(
    /changes nothing of c1$/,
  );
  await hcp(bench, pause);
  try {
    const { apiVersion, kind } = Deployment;
    const scaled = { apiVersion, kind, metadata: { namespace, name: 'c1-scheduler' }, spec: { replicas: 2 } };
    await bench.client.apply(scaled, { fieldManager: 'somebody', force: true });
    const lines = (await hcp(bench, diff)).split('\n');
    expect(lines).toContainEqual(
      expect.stringMatching(/^Deployment c1-scheduler +pods added or removed +somebody +spec\.replicas$/),
    );
    expect(lines.at(-1)).toMatch(/^others have set fields of the objects of c1, .*: pods added or removed$/);
    expect(lines).toHaveLength(3);
  } finally {
    await hcp(bench, resume);
  }
  await until('the operator to take the change back', async () => (await hcp(bench, diff)) === same);
});

test('hcp status leads from the step that blocks to the last words of a container, and to the warnings of its kubelet', async () => {
  try {
    await bench.patch('c1', { spec: { deployment: { scheduler: { args: { 'no-such-flag': '1' } } } } });
    const text = await until('the operator and the kubelet to report the crash', async () => {
      const lines = await hcp(bench, status);
      return lines.includes('PodsFailing') && lines.includes('BackOff') ? lines : undefined;
    });
    expect(text).toMatch(/^Not Ready for \S+: SchedulerReady is PodsFailing$/m);
    const words =
      /Pod c1-scheduler-\S+: container kube-scheduler ended with exit code 1: unknown flag: --no-such-flag$/m;
    expect(text).toMatch(words);
    // Its probes fail, too, and either warning may be the newer one.
    expect(text).toMatch(/^[│ ] [├└] BackOff \S+ ago.*: Back-off restarting failed container/m);
  } finally {
    await bench.patch('c1', { spec: { deployment: { scheduler: { args: null } } } });
  }
  await bench.untilReady('c1');
  expect(await hcp(bench, status)).toMatch(/^Ready$/m);
});

/** What tools for GitOps apply by server-side apply, each under its name. */
const tools = ['kustomize-controller', 'argocd-controller'];

test.each(tools)('%s owns what its file has, and the operator nothing of it but the endpoint', async (fieldManager) => {
  const { apiVersion, kind } = HostedControlPlane;
  const args = { v: String(tools.indexOf(fieldManager) + 2) };
  const file = {
    apiVersion,
    kind,
    metadata: { namespace, name: 'c1-cp', labels: { 'example.com/from': 'git' } },
    spec: { version: single.version, deployment: { scheduler: { args } } },
  };
  const again = async (dryRun: boolean) => bench.client.apply(file, { fieldManager, force: true, dryRun });
  const { metadata } = await again(false);
  await until('the operator to have observed it', async () => {
    const { status } = await bench.get('c1');
    return status?.observedGeneration === metadata.generation;
  });
  await bench.untilReady('c1');
  const live = await bench.get('c1');
  expect(live.metadata.generation).toBe(metadata.generation);
  // A difference would be shown as OutOfSync, and be applied again and again.
  const { spec, metadata: unchanged } = await again(true);
  expect({ spec, labels: unchanged.labels }).toEqual({ spec: live.spec, labels: live.metadata.labels });
  const owned = (live.metadata.managedFields ?? [])
    .filter(({ manager, subresource }) => manager?.startsWith(operatorName) && subresource === undefined)
    .flatMap(({ fieldsV1 }) => Object.keys((fieldsV1 as { 'f:spec'?: object })['f:spec'] ?? {}));
  expect(owned).toEqual(['f:controlPlaneEndpoint']);
});

test('an object that no operator has seen does not look as if it were done', async () => {
  const { apiVersion, kind } = HostedControlPlane;
  const metadata = { namespace, name: 'unseen', labels: {} };
  const unseen = { apiVersion, kind, metadata, spec: { ...single, version: single.version } };
  const { status } = await bench.client.apply<KubeObject & { readonly status?: object }>(unseen, {
    fieldManager: 'user',
  });
  expect(status).toEqual({ observedGeneration: -1 });
  await bench.client.delete(HostedControlPlane, metadata);
});

test('a kubeconfig that the spec declares signs its user in, and is gone when the spec does not declare it any more', async () => {
  const secret = { namespace, name: 'c1-kubeconfig-ci' };
  const kubeconfigs = [{ name: 'ci', user: 'ci', groups: ['deployers'], lifetime: '2h' }];
  await bench.patch('c1', { spec: { kubeconfigs } });
  const found = await until('its Secret', () => bench.client.find<SecretObject>(Secret, secret));
  const client = hostedClient(valueOf(found, 'value') ?? '');
  const review: KubeObject & { readonly status?: { readonly userInfo?: object } } = await client.create(
    { apiVersion: SelfSubjectReview.apiVersion, kind: SelfSubjectReview.kind, metadata: { name: '' } },
    { fieldManager: 'user' },
  );
  expect(review.status?.userInfo).toMatchObject({ username: 'ci', groups: ['deployers', 'system:authenticated'] });
  await client.connection.close();
  await bench.patch('c1', { spec: { kubeconfigs: null } });
  await until('the Secret to be gone', async () => (await bench.client.find(Secret, secret)) === undefined);
});
