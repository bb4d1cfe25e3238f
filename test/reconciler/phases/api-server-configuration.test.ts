import { expect, it } from 'vitest';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import {
  checkedAnnotation,
  checkedConfiguration,
} from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { withManagementIssuer } from '../../../constructs/cluster/management-issuer.ts';
import { apiServerConfiguration } from '../../../reconciler/phases/api-server-configuration.ts';
import { acceptingWords } from '../../support/management-controllers.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { knownFacts } from '../../support/rendered-cluster.ts';
import { hostedCluster, now, scopeOf } from '../../support/scope.ts';

const withArgs = { deployment: { apiServer: { args: { v: '2' } } } };
const configurationOf = (spec: object) => checkedConfiguration(hostedCluster({ ...withArgs, ...spec })) ?? '';

const ended = (terminated: object) => ({ phase: 'Failed', containerStatuses: [{ name: 'x', state: { terminated } }] });
const accepting = ended({ exitCode: 1, message: acceptingWords });

function podOf(spec: object, status: object, ageMs = 0) {
  const { apiVersion, kind } = Pod;
  const metadata = {
    name: 'c1-api-server-check',
    labels: selectorLabels('c1', 'api-server-check'),
    annotations: { [checkedAnnotation]: configurationOf(spec) },
    creationTimestamp: new Date(now.getTime() - ageMs).toISOString(),
  };
  return { apiVersion, kind, metadata, status };
}

function deploymentOf(spec: object) {
  const { apiVersion, kind } = Deployment;
  const labels = selectorLabels('c1', 'api-server');
  const annotations = { [checkedAnnotation]: configurationOf(spec) };
  return { apiVersion, kind, metadata: { name: 'c1-api-server', labels, annotations } };
}

const run = async (objects: readonly StoredObject[], { cluster = {} }: { readonly cluster?: object } = {}) => {
  const management = new MemoryObjects();
  for (const object of objects) management.put(object);
  const scope = scopeOf(management, { spec: withArgs, facts: knownFacts });
  const outcome = await apiServerConfiguration.run({
    ...scope,
    cluster: { ...scope.cluster, spec: { ...scope.cluster.spec, ...cluster } },
  });
  return { outcome, writes: management.writes };
};

it("refuses the management cluster's issuer as one of service accounts, and API servers do not get it", async () => {
  const managementIssuer = { url: 'https://management.example.org' };
  const running = { managementClusterIssuer: { enabled: true } };
  const asked = { ...running, serviceAccountIssuer: { acceptedIssuers: [managementIssuer.url] } };
  const requested = withManagementIssuer(hostedCluster(asked), managementIssuer);
  const management = new MemoryObjects();
  const scope = scopeOf(management, { spec: running, facts: knownFacts });
  const cluster = withManagementIssuer(scope.cluster, managementIssuer);
  management.put(deploymentOf({ ...cluster.spec, deployment: {} }));
  const outcome = await apiServerConfiguration.run({ ...scope, cluster, requested, managementIssuer });
  expect(outcome).toMatchObject({
    kind: 'degraded',
    reason: 'ConfigurationRefused',
    message: expect.stringContaining('the service accounts of both clusters have the issuer https://management'),
    facts: { serviceAccountIssuers: ['https://192.0.2.10:6443'] },
  });
  expect(checkedConfiguration(requested)).not.toBe(checkedConfiguration(cluster));
});

it('keeps the pod as the record while an upgrade waits for its backup', async () => {
  const older = { version: 'v1.35.1' };
  const { outcome, writes } = await run([deploymentOf(older), podOf({}, accepting)], { cluster: older });
  expect(outcome.kind).toBe('done');
  expect(writes).toEqual([]);
});

it('removes the pod once the API servers record the same', async () => {
  const { outcome, writes } = await run([deploymentOf({}), podOf({}, accepting)]);
  expect(outcome.kind).toBe('done');
  expect(writes).toEqual(['delete Pod c1-api-server-check']);
});

it('replaces the pod of another configuration', async () => {
  const { outcome, writes } = await run([podOf({ version: 'v1.35.1' }, accepting)]);
  expect(outcome).toMatchObject({ kind: 'wait', reason: 'CheckingConfiguration' });
  expect(writes).toEqual(['delete Pod c1-api-server-check']);
});

it.each([
  ['a young pod', 1_000, 29_000, []],
  ['an older pod', 60_000, 1_000, ['delete Pod c1-api-server-check']],
])('tries again after %s that was evicted', async (_, ageMs, afterMs, expected) => {
  const evicted = { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' };
  const { outcome, writes } = await run([podOf({}, evicted, ageMs)]);
  expect(outcome).toMatchObject({
    kind: 'wait',
    reason: 'PodsFailing',
    message: expect.stringContaining('Evicted: the node was low on memory'),
    afterMs,
  });
  expect(writes).toEqual(expected);
});

it('says why a pod that checks does not start', async () => {
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  const status = {
    phase: 'Pending',
    containerStatuses: [{ name: 'kube-apiserver', ready: false, state: { waiting } }],
  };
  expect((await run([podOf({}, status)])).outcome).toMatchObject({
    kind: 'wait',
    reason: 'PodsFailing',
    message: expect.stringContaining('ImagePullBackOff: no such image'),
  });
});
