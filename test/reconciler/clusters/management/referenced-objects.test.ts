import type { SecretObject } from '../../../../imports/kubernetes.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditReceiversAnnotation } from '../../../../constructs/api/group.ts';
import { HostedControlPlaneSpec } from '../../../../constructs/api/hosted-control-plane.ts';
import { ConfigMap, type Resource, Secret } from '../../../../constructs/api/resources.ts';
import type { ListOptions, Selection } from '../../../../reconciler/kube/client-options.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import {
  ReferencedObjects,
  referencesOf,
  watchLimits,
} from '../../../../reconciler/clusters/management/referenced-objects.ts';
import { MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites } from '../../../support/loop/scenario.ts';
import { MemoryClient } from '../../../support/memory-cluster/client.ts';
import { installRights, operatorUser } from '../../../support/loop/shipped-rights.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { namespace } from '../../../support/scope.ts';

const somebody = { fieldManager: 'somebody' };
const policy = { resource: ConfigMap, namespace, name: 'policy' };
const token = { resource: Secret, namespace, name: 'token' };

/** A client that records what it is asked for. */
class RecordingClient extends MemoryClient {
  readonly selections: Selection[] = [];

  override list<T extends KubeObject>(resource: Resource, options?: ListOptions<T>) {
    const { namespace: place, fieldSelector, metadataOnly } = options ?? {};
    this.selections.push({ namespace: place, fieldSelector, metadataOnly });
    return super.list<T>(resource, options);
  }
}

describe('objects that specs name', () => {
  let user: MemoryClient;
  let client: RecordingClient;
  let references: ReferencedObjects;
  let changed: string[];

  beforeEach(async () => {
    changed = [];
    const clock = new ManualClock();
    const cluster = new MemoryCluster(clock);
    user = cluster.user;
    await user.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, somebody);
    installRights(cluster.management);
    client = new RecordingClient(cluster.management, operatorUser());
    const onError = (error: unknown) => void changed.push(String(error));
    references = new ReferencedObjects({ client, clock, onChange: (key) => changed.push(key), onError });
  });
  afterEach(() => references.close());

  const put = ({ resource, name }: typeof policy, content: string) => {
    const { apiVersion, kind } = resource;
    return user.apply({ apiVersion, kind, metadata: { namespace, name }, data: { content } } as KubeObject, {
      ...somebody,
      force: true,
    });
  };
  /** The keys that are reported for what a user does. */
  const reportedFor = async (change: () => unknown) => {
    await settled();
    changed.length = 0;
    await change();
    await settled();
    return [...changed].sort();
  };

  it('report that they appear, change and vanish, to all that refer to them', async () => {
    references.follow('team/c1', [policy, token]);
    references.follow('team/c2', [policy]);
    expect(await reportedFor(() => put(policy, 'one'))).toEqual(['team/c1', 'team/c2']);
    expect(await reportedFor(() => put(policy, 'two'))).toEqual(['team/c1', 'team/c2']);
    expect(await reportedFor(() => put(token, 'one'))).toEqual(['team/c1']);
    expect(await reportedFor(() => put({ ...policy, name: 'other' }, 'one'))).toEqual([]);
    expect(await reportedFor(() => user.delete(ConfigMap, policy))).toEqual(['team/c1', 'team/c2']);
  });

  it('are watched one by one, without their content', async () => {
    references.follow('team/c1', [policy, policy, token]);
    references.follow('team/c1', [policy, token]);
    await settled();
    expect(client.selections).toEqual([
      { namespace, fieldSelector: 'metadata.name=policy', metadataOnly: true },
      { namespace, fieldSelector: 'metadata.name=token', metadataOnly: true },
    ]);
  });

  it('are watched no longer than a spec names them', async () => {
    references.follow('team/c1', [policy, token]);
    references.follow('team/c2', [policy]);
    references.follow('team/c1', [token]);
    expect(await reportedFor(() => put(policy, 'one'))).toEqual(['team/c2']);
    references.forget('team/c2');
    expect(await reportedFor(() => put(policy, 'two'))).toEqual([]);
    expect(await reportedFor(() => put(token, 'one'))).toEqual(['team/c1']);
    await references.close();
    expect(await reportedFor(() => put(token, 'two'))).toEqual([]);
  });

  const many = (count: number, of = 'policy') =>
    Array.from({ length: count }, (_, index) => ({ ...policy, name: `${of}-${index}` }));

  it('are watched up to a limit for each namespace, and the next one as soon as another one is not', async () => {
    const { perNamespace } = watchLimits;
    expect(references.follow('team/c1', many(perNamespace))).toBe(0);
    expect(references.follow('team/c2', [token])).toBe(1);
    expect(await reportedFor(() => put(token, 'one'))).toEqual([]);
    references.follow('team/c1', many(perNamespace).slice(1));
    expect(references.follow('team/c2', [token])).toBe(0);
    expect(await reportedFor(() => put(token, 'two'))).toEqual(['team/c2']);
  });

  it('of namespaces that name few are watched, however many the others name', async () => {
    const { all, perNamespace } = watchLimits;
    for (let index = 0; index <= all / perNamespace; index++)
      references.follow(`mallory-${index}/c1`, many(perNamespace, `of-${index}`));
    expect(references.follow('team/c2', [token])).toBe(0);
    expect(await reportedFor(() => put(token, 'one'))).toEqual(['team/c2']);
    const beyond = references.follow('mallory-0/c1', many(perNamespace, 'of-0'));
    expect(beyond).toBeGreaterThan(0);
    expect(await reportedFor(() => put(token, 'two'))).toEqual(['team/c2']);
  });
});

const refusing = new MemoryClient(new MemoryCluster(new ManualClock()).management, operatorUser());

it('an object that the operator may not watch is left to the phase that reads it', async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const references = new ReferencedObjects({ client: refusing, clock: new ManualClock(), onChange: () => {}, onError });
  references.follow('team/c1', [token]);
  await settled();
  await references.close();
  expect(errors).toEqual([]);
});

const receivers = [
  { server: 'https://a.example.org', authentication: { secretName: 'token' } },
  { server: 'https://b.example.org', authentication: { secretName: 'b', secretNamespace: 'platform' } },
  { server: 'https://c.example.org' },
];
const audit = { policy: { rules: [{ level: 'Metadata' }] }, webhook: { targets: receivers } };
const mounts = {
  policy: { path: '/etc/policy', configMap: { name: 'policy' } },
  token: { path: '/etc/token', secret: { secretName: 'token', optional: true } },
};

it.each<[object, object[]]>([
  [{}, []],
  [{ deployment: { apiServer: { mounts } } }, [policy, token]],
  [{ deployment: { apiServer: { audit } } }, [token, { resource: Secret, namespace: 'platform', name: 'b' }]],
])('a control plane with %j follows %j', (changes, expected) => {
  const spec = HostedControlPlaneSpec.parse({ version: 'v1.36.0', exposure: { loadBalancer: {} }, ...changes });
  expect(referencesOf({ namespace, spec })).toEqual(expected);
});

it('a change of what an API server mounts is reported at once, and replaces its pods', async () => {
  const management = await completeCluster();
  const { apiVersion, kind } = ConfigMap;
  const object = { apiVersion, kind, metadata: { namespace, name: 'policy' }, data: { text: 'one' } };
  await management.user.create(object, somebody);
  await management.change({ deployment: { apiServer: { mounts: { policy: mounts.policy } } } });
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  await expectNoWrites(management, operator);
  expect(operator.hasNews).toBe(false);

  await management.user.mergePatch(ConfigMap, object.metadata, { data: { text: 'two' } }, somebody);
  await operator.untilObserved();
  expect(operator.hasNews).toBe(true);
  const { length } = management.management.writes;
  await operator.untilSettled();
  expect(management.management.writes.slice(length)).toContainEqual(expect.stringContaining('Deployment'));

  await management.change({ deployment: { apiServer: { mounts: null } } });
  await operator.untilSettled();
  await management.user.delete(ConfigMap, object.metadata);
  await operator.untilObserved();
  expect(operator.hasNews).toBe(false);
  await operator.stop();
});

it('a changed token of an audit receiver is reported at once, and copied', async () => {
  const management = await completeCluster();
  const { apiVersion, kind } = Secret;
  const encoded = (text: string) => Buffer.from(text).toString('base64');
  const annotations = { [auditReceiversAnnotation]: 'a.example.org' };
  const metadata = { namespace, name: 'token', annotations };
  const object = { apiVersion, kind, metadata, data: { token: encoded('one') } };
  await management.user.create(object, somebody);
  await management.change({ deployment: { apiServer: { audit: { ...audit, webhook: { targets: [receivers[0]] } } } } });
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  const copies = () => Object.values(management.objects.get<SecretObject>(Secret, 'c1-audit-tokens')?.data ?? {});
  expect(copies()).toEqual([encoded('one')]);

  await management.user.mergePatch(Secret, object.metadata, { data: { token: encoded('two') } }, somebody);
  await operator.untilObserved();
  expect(operator.hasNews).toBe(true);
  await operator.untilSettled();
  expect(copies()).toEqual([encoded('two')]);
  await operator.stop();
});
