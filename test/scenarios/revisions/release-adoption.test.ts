import { beforeAll, describe, expect, it } from 'vitest';
import { HostedControlPlaneTemplateSpec } from '../../../constructs/api/hosted-control-plane-template.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { adoptRevisionAnnotation, releaseRevisionAnnotation } from '../../../constructs/api/group.ts';
import { newestRevision } from '../../../constructs/cluster/release-revisions.ts';
import { ConfigMap, Deployment, Event, HostedControlPlane, StatefulSet } from '../../../constructs/api/resources.ts';
import { defaultsFor } from '../../../constructs/cluster/versions.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { fleetMember } from '../../../reconciler/desired-state/revision/adoption-waves.ts';
import { ourName, type MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { everyCrash, expectSameAfter, orderedCluster, settleBy, settleForGood } from '../../support/loop/scenario.ts';
import { clusterName, spec } from '../../support/scope.ts';

/** The last release revision that lets control planes keep the first one. */
const newer = 3;

/** A control plane that an operator of the first release revision has brought up, for an operator that keeps it. */
let ofFirst: MemoryCluster;
beforeAll(async () => {
  ofFirst = await byFirst();
});

async function byFirst(spec: object = {}): Promise<MemoryCluster> {
  const management = await orderedCluster(spec);
  management.newestRevision = 1;
  await settleBy(management);
  management.newestRevision = newer;
  return management;
}

const newest = String(newer);
const asUser = { fieldManager: 'somebody' };

interface Templated extends KubeObject {
  readonly spec?: { readonly template?: object };
}

/** The pod templates of all components. */
function templates({ objects }: MemoryCluster): unknown[] {
  const of = (resource: typeof Deployment, name: string) => objects.get<Templated>(resource, name)?.spec?.template;
  const deployments = ['api-server', 'controller-manager', 'scheduler'].map((name) => of(Deployment, `c1-${name}`));
  return [of(StatefulSet, 'c1-etcd'), ...deployments];
}

const etcdOf = ({ objects }: MemoryCluster) => objects.get<Templated>(StatefulSet, 'c1-etcd');
const revisionOfEtcd = (cluster: MemoryCluster) => etcdOf(cluster)?.metadata.annotations?.[releaseRevisionAnnotation];

function reported({ hostedControlPlane }: MemoryCluster): number | undefined {
  return (hostedControlPlane as { status?: { releaseRevision?: number } }).status?.releaseRevision;
}

function accepted({ conditions }: MemoryCluster): string {
  const found = conditions.find(({ type }) => type === 'SpecAccepted');
  return `${found?.status}: ${found?.message}`;
}

const recordsOf = ({ objects }: MemoryCluster) =>
  objects
    .list<KubeObject & { data?: object }>(ConfigMap, objectLabels(clusterName, 'revision'))
    .map(({ data }) => data);

function adopt(management: MemoryCluster, revision: string): Promise<unknown> {
  const metadata = { annotations: { [adoptRevisionAnnotation]: revision } };
  return management.user.mergePatch(HostedControlPlane, ourName, { metadata }, asUser);
}

const notesOf = ({ objects }: MemoryCluster) =>
  objects
    .list<KubeObject & { note?: string; reason?: string }>(Event, {})
    .filter(({ reason }) => reason === 'ReleaseAdopted');

describe('a newer operator', () => {
  it('replaces no pod, says how to adopt its release revision, and has nothing left to write', async () => {
    const management = ofFirst.copy();
    const before = templates(management);
    await settleForGood(management);
    expect(templates(management)).toEqual(before);
    expect(reported(management)).toBe(1);
    expect(accepted(management)).toMatch(
      new RegExp(
        `^True: .*rendered by release revision 1, and the newest one is ${newest}: .*adopt-revision: "${newest}"`,
      ),
    );
    expect(notesOf(management)).toEqual([]);
  });

  it('renders a change of the spec by the release revision that the control plane has', async () => {
    const management = ofFirst.copy();
    const before = templates(management);
    await management.change({ replicas: 3 });
    await settleBy(management);
    expect(management.objects.get(Deployment, 'c1-api-server')).toMatchObject({ spec: { replicas: 3 } });
    expect(templates(management)).toEqual(before);
    expect(reported(management)).toBe(1);
  });

  it('takes a record without a release, of an operator that put no digests into the status, for one of the first', async () => {
    const management = ofFirst.copy();
    const status = { revisions: null };
    await management.user.mergePatch(HostedControlPlane, ourName, { status }, { ...asUser, subresource: 'status' });
    const before = templates(management);
    const record = { name: 'c1-revision-1', namespace: ourName.namespace };
    await management.user.mergePatch(ConfigMap, record, { data: { 'release.json': null } }, asUser);
    await settleBy(management);
    expect(templates(management)).toEqual(before);
    expect(management.objects.get(ConfigMap, 'c1-revision-1')).toMatchObject({
      data: { 'release.json': expect.stringMatching(/^\{"revision":1,/) },
    });
  });

  it('leaves the release revision of a control plane whose status is lost, as in a move', async () => {
    const management = ofFirst.copy();
    const before = templates(management);
    const status = {
      releaseRevision: null,
      revisions: null,
      externalManagedControlPlane: null,
      version: null,
      conditions: null,
    };
    await management.user.mergePatch(HostedControlPlane, ourName, { status }, { ...asUser, subresource: 'status' });
    await settleBy(management);
    expect(templates(management)).toEqual(before);
    expect(reported(management)).toBe(1);
  });

  it('keeps the pods and the record when a topology applies the defaults of its own template again', async () => {
    const management = ofFirst.copy();
    const before = [templates(management), recordsOf(management)];
    const { apiVersion, kind } = HostedControlPlane;
    const defaults = HostedControlPlaneTemplateSpec.parse({ template: { spec } }).template.spec;
    const applied = { apiVersion, kind, metadata: ourName, spec: { ...defaults, version: spec.version } };
    await management.user.apply(applied, { fieldManager: 'capi-topology', force: true });
    expect(management.hostedControlPlane).toMatchObject({ spec: { networkPolicy: 'Auto', etcd: { autoGrow: true } } });
    await settleBy(management);
    expect([templates(management), recordsOf(management)]).toEqual(before);
    expect(reported(management)).toBe(1);
  });

  it('gives its release revision to a new control plane', async () => {
    const management = await orderedCluster();
    await settleBy(management);
    expect([reported(management), revisionOfEtcd(management)]).toEqual([newestRevision, String(newestRevision)]);
    expect(accepted(management)).toMatch(/^True/);
    expect(accepted(management)).not.toContain('release revision');
  });
});

describe('the newest release revision is adopted', () => {
  it('on request, by which only what it changes is replaced', async () => {
    const management = ofFirst.copy();
    const [, , ...others] = templates(management);
    await adopt(management, newest);
    await settleBy(management);
    expect([reported(management), revisionOfEtcd(management)]).toEqual([newer, newest]);
    expect(JSON.stringify(etcdOf(management)?.spec?.template)).toContain('"containerPort":2382');
    expect(JSON.stringify(templates(management)[1])).toContain('--endpoint-reconciler-type=none');
    expect(templates(management).slice(2)).toEqual(others);
    expect(notesOf(management).map(({ note }) => note)).toEqual([
      `the control plane adopts release revision ${newest} instead of 1: the pods that it renders in another way are replaced`,
    ]);
  });

  it('by an operator that crashes at any moment', async () => {
    // Of several members, another one may lead afterwards.
    const management = (await byFirst({ etcd: { replicas: 1 } })).copy();
    await adopt(management, newest);
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(3);
    await expectSameAfter(crashes, management);
  });

  it('while the maintenance window is open, for which the operator looks again when it opens', async () => {
    const management = ofFirst.copy();
    const opens = new Date(management.clock.now() + 3 * 3_600_000);
    await management.change({
      maintenance: { window: { start: `${opens.getUTCMinutes()} ${opens.getUTCHours()} * * *`, duration: '1h' } },
    });
    const operator = await settleBy(management);
    expect(reported(management)).toBe(1);
    const dueMs = (operator.requeueAt?.getTime() ?? Infinity) - management.clock.now();
    expect(dueMs).toBeLessThanOrEqual(3 * 3_600_000);
    await management.clock.advance(3 * 3_600_000 + 60_000);
    await settleBy(management);
    expect(reported(management)).toBe(newer);
  });

  it('with another minor version of Kubernetes, and for etcd only with its own version, as the last step', async () => {
    const management = ofFirst.copy();
    await management.change({ version: 'v1.37.1' });
    const seen = new Set<string>();
    for (const { cluster } of await everyCrash(management)) {
      const image = /registry[^"]*etcd:([^"]*)"/.exec(JSON.stringify(etcdOf(cluster)))?.[1];
      seen.add(`etcd ${image} by release revision ${revisionOfEtcd(cluster)}`);
    }
    const [before, after] = [defaultsFor(spec.version).etcd, defaultsFor('v1.37.1').etcd];
    const present = [...seen];
    expect(present[0]).toBe(`etcd ${before}-0 by release revision 1`);
    expect(present).not.toContain(`etcd ${before}-0 by release revision ${newest}`);
    expect(present.at(-1)).toBe(`etcd ${after}-0 by release revision ${newest}`);
    expect(reported(management)).toBe(newer);
  });
});

it('a release revision by which an API server does not start is given up, and nobody follows', async () => {
  const management = ofFirst.copy();
  const before = templates(management);
  management.startsNot = '--endpoint-reconciler-type=none';
  await adopt(management, newest);
  await settleForGood(management);
  expect(templates(management)).toEqual(before);
  expect(reported(management)).toBe(1);
  expect(accepted(management)).toMatch(
    new RegExp(`^False: .*does not become ready by release revision ${newest}: .*renders it by revision 1$`),
  );
  const object = management.hostedControlPlane as KubeObject;
  expect(fleetMember(object)).toMatchObject({ revision: 1, hasFailed: true });
});

describe('a release revision that is no longer kept', () => {
  it('is warned of by the release before, and then replaced, which a Warning says', async () => {
    const management = ofFirst.copy();
    await settleBy(management);
    const due = management.conditions.find(({ type }) => type === 'SpecAccepted');
    expect(due).toMatchObject({ status: 'True', reason: 'AdoptionDue' });
    expect(due?.message).toMatch(/; with the release revision after that the operator adopts it without being asked$/);
    expect(reported(management)).toBe(1);
    management.newestRevision = newer + 1;
    await settleBy(management);
    expect(reported(management)).toBe(newer + 1);
    expect(accepted(management)).toMatch(/^True/);
    const warnings = management.objects.list<KubeObject & { type?: string; reason?: string }>(Event, {});
    expect(warnings.filter(({ type }) => type === 'Warning').map(({ reason }) => reason)).toEqual([
      'AdoptionDue',
      'ReleaseAdopted',
    ]);
  });
});
