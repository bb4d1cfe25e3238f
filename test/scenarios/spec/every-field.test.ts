import { readFile } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { HostedControlPlaneSpec } from '../../../constructs/api/hosted-control-plane.ts';
import { structural } from '../../../constructs/api/structural.ts';
import { type HostedCluster, networkOf } from '../../../constructs/cluster/cluster.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import { memoryClusterOf } from '../../support/loop/memory-cluster-of.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { readFields, renderingOf, storeKeys, storeName } from '../../support/spec-fields/effects.ts';
import { type Field, fieldsOf, pathOf, withField } from '../../support/spec-fields/fields.ts';
import { valuesOf } from '../../support/spec-fields/samples.ts';

const fields = fieldsOf(structural(HostedControlPlaneSpec));
const isBelow = (name: string, parents: readonly string[]) =>
  parents.some((parent) => name === parent || name.startsWith(`${parent}.`));

/** Fields that Cluster API or users paste, and whose description says that they are ignored. */
const ignored = fields.filter(({ steps }) => steps.some(([, schema]) => schema.description?.startsWith('Ignored')));

/** Fields with one value only, which can be left out. */
const constant = fields.filter(({ schema }) => schema.enum?.length === 1);

/** Fields that are refused whatever their value. */
const refused = fields.filter(({ name }) => name.includes('.resources.claims.'));

/** Fields that decide outside of the phases, and the test of that decision. */
const provedElsewhere: Readonly<Record<string, string>> = {
  'componentTemplateRef.name': 'test/constructs/pod/component-template.test.ts',
  'readinessGates.[].conditionType': 'test/reconciler/reconcile/status/summaries.test.ts',
  'certificates.shortLived': 'test/constructs/api/admission-cases.ts',
  'etcd.autoGrow': 'test/reconciler/etcd/volume-size.test.ts',
  'etcd.backup.beforeDeletion': 'test/reconciler/backup/final-backup.test.ts',
  'etcd.backup.retention.maxCount': 'test/reconciler/backup/retention.test.ts',
  'etcd.backup.retention.maxAge': 'test/reconciler/backup/retention.test.ts',
  'managementClusterIssuer.enabled': 'test/constructs/cluster/management-issuer.test.ts',
  'etcd.volumeRetention': 'test/reconciler/reconcile/reconcile-delete.test.ts',
  'rollout.after': 'test/reconciler/reconcile/reconcile-normal.test.ts',
  'maintenance.window.start': 'test/reconciler/desired-state/revision/choose-release.test.ts',
  'maintenance.window.duration': 'test/reconciler/desired-state/revision/choose-release.test.ts',
  'maintenance.timeZone': 'test/reconciler/desired-state/revision/choose-release.test.ts',
  hibernate: 'test/scenarios/hibernation/hibernation.test.ts',
  'upgrade.hold': 'test/reconciler/desired-state/upgrade/hold.test.ts',
};

/** Fields that are read by a phase, and are not part of what is rendered. */
const decisions = [
  'controlPlaneEndpoint',
  'gateway',
  'exposure.gateway',
  'exposure.ingress.apiHost',
  'exposure.ingress.konnectivityHost',
  'exposure.ingress.tunnelHost',
  'exposure.ingress.port',
  'exposure.nodePort.address',
  'etcd.maxVolumeSize',
  'etcd.backup',
  'etcd.restore',
  'etcd.recovery',
  'encryptionAtRest',
  'certificates',
  'kubeconfigs',
];

const ingress = {
  apiHost: 'api.example.org',
  konnectivityHost: 'k.example.org',
  tunnelHost: 't.example.org',
  port: 443,
};
const nodePort = { address: '192.0.2.10', port: 30443, konnectivityPort: 30132 };
const authentication = { secretName: 'a', secretNamespace: 'b', tokenKey: 'c' };
const receivers = [{ server: 'https://a.example.org', authentication }, { server: 'https://b.example.org' }];
const gateway = { name: 'capi', namespace: 'capi-system' };
const version = 'v1.36.3';

/**
 * Fields of additions to pods that one function adds to the pods of every component. They are tried for the API server;
 * `test/constructs/pod/overlay.test.ts` shows that each component has all additions.
 */
const sameAdditions = fields.filter(
  ({ name }) =>
    /[.](affinity|env|imagePullSecrets|tolerations|topologySpreadConstraints)[.]/.test(name) &&
    !name.startsWith('deployment.apiServer.'),
);

/** Parts without which some fields of additions to pods are refused. */
const compared = { matchExpressions: [{ key: 'a', operator: 'In', values: ['1'] }] };
const near = { topologyKey: 'a', labelSelector: compared };
const podRules = {
  requiredDuringSchedulingIgnoredDuringExecution: [near],
  preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: near }],
};
const affinity = {
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [compared] },
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: compared }],
  },
  podAffinity: podRules,
  podAntiAffinity: podRules,
};
const tolerations = [{ key: 'a', effect: 'NoExecute' }];

/** Specs in which some field has an effect. */
const scenes: readonly object[] = [
  { exposure: { loadBalancer: {} }, deployment: { apiServer: { tolerations, affinity } } },
  { exposure: { loadBalancer: {} }, inClusterAccess: 'Proxy' },
  { exposure: { ingress } },
  { exposure: { nodePort } },
  { exposure: { loadBalancer: {} }, etcd: { autoGrow: false, volumeSize: '8Gi' } },
  {
    exposure: { loadBalancer: {} },
    deployment: { apiServer: { mounts: { extra: { path: '/a', configMap: { name: 'a' } } } } },
  },
  {
    exposure: { loadBalancer: {} },
    deployment: { apiServer: { audit: { policy: { rules: [] }, webhook: { targets: receivers } } } },
  },
];

function clusterWith(spec: object): HostedCluster | undefined {
  const parsed = HostedControlPlaneSpec.safeParse({ version, ...spec });
  return parsed.success
    ? { name: 'c1', namespace: 'team', network: networkOf(undefined), spec: parsed.data }
    : undefined;
}

function isRendered(field: Field, specs = scenes): boolean {
  const values = valuesOf(field.schema, pathOf(field).join('.'));
  return specs.some((scene) => {
    const renderings = new Set<string>();
    for (const value of values) {
      const cluster = clusterWith(withField(scene, field, value));
      if (cluster) renderings.add(renderingOf(cluster));
      if (renderings.size > 1) return true;
    }
    return false;
  });
}

const store = { name: storeName, namespace: 'team', ...storeKeys, certificateAuthorityKey: 'none' };
const backup = {
  schedule: '@daily',
  timeZone: 'Europe/Berlin',
  secret: store,
  beforeUpgrade: true,
  encryption: { secretName: 'keys' },
  verify: { disabled: false, every: 2, schedule: '@daily' },
};
const webIdentity = {
  roleARN: 'arn:aws:iam::1:role/a',
  serviceAccountName: 'a',
  audience: 'a',
  tokenServiceURL: 'https://sts.example.org',
};
const from = { namespace: 'a', cluster: 'b', identity: true };
const rotation = { clusterCA: '1', etcdCA: '1', proxyCA: '1', serviceAccountKey: '1' };
const encryptionAtRest = { provider: 'secretbox', rotation: '1' };
const durations = {
  rootCaCertificateDuration: '87600h',
  caCertificateDuration: '87600h',
  leafCertificateDuration: '4320h',
};
const backupName = '2026-11-21T02-30-00.000Z-4711';

/** Specs in which phases read the fields that are not rendered. */
const decided: readonly object[] = [
  {
    exposure: { ingress },
    controlPlaneEndpoint: { host: ingress.apiHost, port: 443 },
    etcd: { maxVolumeSize: '8Gi', backup, restore: { latest: true, from, request: '1' } },
    encryptionAtRest,
    certificates: { rotation },
    kubeconfigs: [{ name: 'a', user: 'a', groups: ['b'], lifetime: '1h' }],
  },
  {
    exposure: { ingress },
    inClusterAccess: 'Proxy',
    certificates: durations,
    etcd: { backup: { ...backup, webIdentity } },
  },
  {
    exposure: { nodePort },
    etcd: { restore: { backup: backupName }, recovery: { acceptDataLossTo: backupName }, backup },
  },
  { exposure: undefined, gateway, etcd: { restore: { before: '2026-11-20T00:00:00Z' }, backup } },
  { exposure: { gateway }, certificates: { issuerRef: { name: 'a', kind: 'Issuer', group: 'cert-manager.io' } } },
];

const reads = new Set<string>();
beforeAll(async () => {
  const complete = memoryClusterOf(await completeCluster());
  for (const spec of decided) {
    for (const management of [complete.copy(), new MemoryObjects()]) {
      for (const field of await readFields(management, spec)) reads.add(field);
    }
  }
});

const working = fields.filter((field) => ![...ignored, ...constant, ...refused].includes(field));
const elsewhere = working.filter(({ name }) => provedElsewhere[name] !== undefined);
const others = working.filter((field) => !elsewhere.includes(field));

it('every field of a HostedControlPlane changes what is rendered, unless it decides something else', () => {
  const rendered = others.filter((field) => !isBelow(field.name, decisions) && !sameAdditions.includes(field));
  expect(rendered.length).toBeGreaterThan(80);
  expect(rendered.filter((field) => !isRendered(field)).map(({ name }) => name)).toEqual([]);
});

it('every field that decides something else is read by what decides', () => {
  const deciding = others.filter(({ name }) => isBelow(name, decisions));
  expect(deciding.length).toBeGreaterThan(40);
  expect(deciding.map(({ name }) => name).filter((name) => !reads.has(name))).toEqual([]);
});

it.each(elsewhere)('the field $name has a test of its own', async ({ name }) => {
  const [last = ''] = name.split('.').slice(-1);
  expect(await readFile(provedElsewhere[name] ?? '', 'utf8')).toContain(last);
});
