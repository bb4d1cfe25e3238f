import { beforeAll, describe, expect, it } from 'vitest';
import {
  ConfigMap,
  Deployment,
  HostedControlPlane,
  type Resource,
  StatefulSet,
} from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { newestRevision, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { ownerReference } from '../../../constructs/control-plane/chart.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { type MemoryCluster, ourName } from '../../support/loop/memory-cluster.ts';
import { completeCluster, orderedCluster, settleBy, settleForGood } from '../../support/loop/scenario.ts';
import { clusterName, spec } from '../../support/scope.ts';

const attacker = { fieldManager: 'somebody' };
const apiServer = {
  image: { registry: 'evil.example.org', repository: 'shell', tag: '1' },
  mounts: { all: { path: '/all', secret: { secretName: 'cloud-credentials' } } },
};

let complete: MemoryCluster;
let ofFirst: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
  ofFirst = await orderedCluster();
  ofFirst.newestRevision = 1;
  await settleBy(ofFirst);
});

/** What a user writes who may create ConfigMaps and read the object, and no more. */
async function forge(management: MemoryCluster, data: Readonly<Record<string, string>>, number = 1000): Promise<void> {
  const { name, uid = '' } = management.hostedControlPlane.metadata;
  const metadata = {
    name: `c1-revision-${number}`,
    namespace: ourName.namespace,
    labels: objectLabels(clusterName, 'revision'),
    ownerReferences: [ownerReference({ name, uid })],
  };
  await management.user.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data } as KubeObject, attacker);
}

const forged = (more: Readonly<Record<string, string>> = {}) => ({
  generation: '1',
  'spec.json': JSON.stringify({ ...spec, deployment: { apiServer } }),
  'release.json': JSON.stringify(releaseOf(36, newestRevision)),
  ...more,
});

const refused = { componentTemplateRef: { name: 'does-not-exist' } };

/** The pod templates of all components. */
function templates({ objects }: MemoryCluster): unknown[] {
  const of = (resource: Resource, name: string) =>
    objects.get<KubeObject & { spec?: { template?: object } }>(resource, name)?.spec?.template;
  const deployments = ['api-server', 'controller-manager', 'scheduler'].map((name) => of(Deployment, `c1-${name}`));
  return [of(StatefulSet, 'c1-etcd'), ...deployments];
}

function accepted({ conditions }: MemoryCluster): string {
  const found = conditions.find(({ type }) => type === 'SpecAccepted');
  return `${found?.status} ${found?.reason}: ${found?.message}`;
}

function status({ hostedControlPlane }: MemoryCluster): { readonly revisions?: readonly object[] } {
  return 'status' in hostedControlPlane ? (hostedControlPlane.status as object) : {};
}

function writeStatus(management: MemoryCluster, fields: object): Promise<unknown> {
  const as = { ...attacker, subresource: 'status' };
  return management.user.mergePatch(HostedControlPlane, ourName, { status: fields }, as);
}

describe('ConfigMaps that another client writes in the place of the operator', () => {
  it.each<[string, object]>([
    ['whose spec is accepted', {}],
    ['whose spec is refused', refused],
  ])('change nothing of a control plane %s', async (_, change) => {
    const management = complete.copy();
    await management.change(change);
    await settleBy(management);
    const before = [templates(management), accepted(management)];
    await forge(management, forged({ served: 'true' }));
    await forge(management, { ...forged({ failure: 'never ready' }), 'spec.json': JSON.stringify(spec) }, 1001);
    await settleBy(management);
    expect([templates(management), accepted(management)]).toEqual(before);
    expect(JSON.stringify(management.objects.list(Deployment, {}))).not.toContain('evil.example.org');
  });

  it('start nothing of one that was never accepted', async () => {
    const management = await orderedCluster(refused);
    await forge(management, forged({ served: 'true' }));
    await settleBy(management);
    expect(management.objects.get(Deployment, 'c1-api-server')).toBeUndefined();
    expect(management.objects.get(StatefulSet, 'c1-etcd')).toBeUndefined();
    expect(accepted(management)).toMatch(/^False InvalidConfiguration/);
  });

  it('give a new control plane no image, also with its own spec', async () => {
    const management = await orderedCluster();
    const images = { etcd: 'x@sha256:0', konnectivity: '0.36.0', coredns: '1.14.2' };
    const { data } = complete.objects.get(ConfigMap, 'c1-revision-1') as unknown as { data: Record<string, string> };
    await forge(management, { ...data, 'release.json': JSON.stringify({ ...releaseOf(36), images }) });
    await settleBy(management);
    expect(JSON.stringify(templates(management))).toContain('"image":"registry.k8s.io/etcd:3.6.8-0"');
    expect(JSON.stringify(templates(management))).not.toContain('@sha256');
  });
});

describe('a record that another client deletes or changes', () => {
  it.each<[string, (management: MemoryCluster, record: KubeObject['metadata']) => Promise<unknown>]>([
    ['deletes', (management, record) => management.user.delete(ConfigMap, record, {})],
    [
      'changes',
      (management, record) => management.user.mergePatch(ConfigMap, record, { data: { 'spec.json': '{}' } }, attacker),
    ],
  ])('restarts no pod when another client %s it, and is written again', async (_, act) => {
    const management = ofFirst.copy();
    management.newestRevision = 3;
    const before = templates(management);
    const [record] = management.objects.list(ConfigMap, objectLabels(clusterName, 'revision'));
    if (!record) throw new Error('no record');
    await act(management, { ...record.metadata, ...ourName, name: record.metadata.name });
    await settleForGood(management);
    expect(templates(management)).toEqual(before);
    expect(JSON.stringify(management.objects.get(ConfigMap, record.metadata.name))).toContain('v1.36.3');
    await management.change(refused);
    await settleBy(management);
    expect(accepted(management)).toMatch(/^False InvalidConfiguration.*until you correct it, the operator reconciles/);
  });

  it('leaves a refused object alone, and says why', async () => {
    const management = complete.copy();
    await management.change(refused);
    await settleBy(management);
    for (const { metadata } of management.objects.list(ConfigMap, objectLabels(clusterName, 'revision')))
      await management.user.delete(ConfigMap, metadata, {});
    const before = templates(management);
    await settleBy(management);
    expect(templates(management)).toEqual(before);
    expect(accepted(management)).toMatch(
      /the record of the last accepted spec is missing, or is not what the operator/,
    );
  });
});

it.each<[string, object]>([
  ['accepted', {}],
  ['refused', refused],
])(
  'an upgrade loses no record of an operator that put no digests into the status: the spec is %s',
  async (_, change) => {
    const management = complete.copy();
    await management.change(change);
    await settleBy(management);
    const before = [templates(management), accepted(management)];
    await writeStatus(management, { revisions: null });
    for (const { metadata } of management.objects.list(ConfigMap, objectLabels(clusterName, 'revision')))
      await management.user.mergePatch(ConfigMap, metadata, { data: { served: 'true' } }, attacker);
    await settleForGood(management);
    expect([templates(management), accepted(management)]).toEqual(before);
    expect(status(management).revisions).toEqual([expect.objectContaining({ number: 1, served: true })]);
  },
);
