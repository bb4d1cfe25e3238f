import { beforeAll, describe, expect, it } from 'vitest';
import { serviceAccountIssuerAnnotation, skipPreflightAnnotation } from '../../../constructs/api/group.ts';
import { checkedAnnotation } from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { ConfigMap, Deployment, HostedControlPlane, Pod, Secret } from '../../../constructs/api/resources.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import {
  completeCluster,
  expectNoWrites,
  everyCrash,
  expectSameAfter,
  orderedCluster,
  settleBy,
} from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { loadBalancerAddress, unknownFlag } from '../../support/management-controllers.ts';
import { clusterName, hostedControlPlaneName, namespace } from '../../support/scope.ts';

const withArgs = (args: object) => ({ deployment: { apiServer: { args } } });
const issuer = (username = 'claims.sub') => ({
  oidcProviders: { 'https://issuer.example.org': { audiences: ['kubernetes'], claimMappings: { username } } },
});

const conditionOf = (cluster: MemoryCluster, type: string) => {
  const { status, reason, message } = cluster.conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};
const apiServerArgs = (cluster: MemoryCluster): string =>
  JSON.stringify(cluster.objects.get<StoredObject>(Deployment, 'c1-api-server')?.['spec']);
const authentication = (cluster: MemoryCluster): string =>
  JSON.stringify(cluster.objects.get<StoredObject>(ConfigMap, 'c1-authentication')?.['data']);
const checkPod = (cluster: MemoryCluster) => cluster.objects.get(Pod, 'c1-api-server-check');

let plain: MemoryCluster;
let signedIn: MemoryCluster;
beforeAll(async () => {
  plain = await completeCluster();
  signedIn = await completeCluster(issuer());
});

describe('a configuration of the user', () => {
  it('is checked once, and leaves no pod behind', async () => {
    expect(conditionOf(signedIn, 'APIServerConfigurationAccepted')).toBe('True ReconcileSucceeded: ');
    expect(conditionOf(signedIn, 'Ready')).toBe('True Ready: ');
    expect(apiServerArgs(signedIn)).toContain('--authentication-config=');
    expect(checkPod(signedIn)).toBeUndefined();
    const cluster = signedIn.copy();
    await expectNoWrites(cluster, await OperatorProcess.start(cluster));
  });

  it('of audit is checked before API servers read it', async () => {
    const cluster = plain.copy();
    const audit = (level: string) => ({ audit: { policy: { rules: [{ level }] } } });
    const policy = () => cluster.objects.get<StoredObject>(ConfigMap, 'c1-audit')?.['data'];
    await cluster.change({ deployment: { apiServer: { ...audit('Metadata'), args: { [unknownFlag]: '1' } } } });
    await settleBy(cluster);
    expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain('unknown flag');
    const checked = cluster.objects.get<StoredObject>(ConfigMap, 'c1-api-server-check')?.['data'];
    expect(Object.keys(checked ?? {})).toEqual(['policy.yaml']);
    expect(policy()).toBeUndefined();
    await cluster.change(withArgs({ [unknownFlag]: null }));
    await settleBy(cluster);
    expect(policy()).toEqual(checked);
    expect(apiServerArgs(cluster)).toContain('--audit-policy-file=');

    await cluster.change({ deployment: { apiServer: { ...audit('Request'), args: { [unknownFlag]: '1' } } } });
    await settleBy(cluster);
    expect(policy()).toEqual(checked);
  });

  it('that is absent is not checked', async () => {
    expect(plain.management.writes.filter((write) => JSON.stringify(write).includes('api-server-check')).length).toBe(
      // its network policy
      1,
    );
  });

  it('is applied once it is accepted, without a restart', async () => {
    const cluster = signedIn.copy();
    const before = apiServerArgs(cluster);
    await cluster.change(issuer('"sso:" + claims.sub'));
    await settleBy(cluster);
    expect(authentication(cluster)).toContain('sso:');
    expect(apiServerArgs(cluster)).toBe(before);
    expect(cluster.objects.get(Pod, 'c1-api-server-0')?.metadata.annotations).toMatchObject({
      'controlplane.cluster.x-k8s.io/authentication': expect.stringMatching(/^[0-9a-f]{12}$/),
    });
  });
});

describe('a refused configuration', () => {
  const refused = { ...withArgs({ [unknownFlag]: '1' }), ...issuer('"new:" + claims.sub') };

  it('is quoted, and API servers keep the files and flags that they have, also in the hands of a new operator', async () => {
    const cluster = signedIn.copy();
    const before = [apiServerArgs(cluster), authentication(cluster)];
    await cluster.change(refused);
    await settleBy(cluster);
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    expect([apiServerArgs(cluster), authentication(cluster)]).toEqual(before);
    expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toBe(
      'False ConfigurationRefused: kube-apiserver v1.36.3 refuses it: unknown flag: --nonsense; API servers keep what they accepted last',
    );
    expect(conditionOf(cluster, 'SpecAccepted')).toContain('False CheckingConfiguration');
    expect(conditionOf(cluster, 'Ready')).toContain('False ConfigurationRefused');
    await expectNoWrites(cluster, operator);
  });

  it('is no obstacle for a later one, nor for the one before', async () => {
    for (const next of [withArgs({ [unknownFlag]: null, v: '2' }), withArgs({ [unknownFlag]: null })]) {
      const cluster = signedIn.copy();
      await cluster.change(withArgs({ [unknownFlag]: '1' }));
      await settleBy(cluster);
      await cluster.change(next);
      await settleBy(cluster);
      expect(conditionOf(cluster, 'Ready')).toBe('True Ready: ');
      expect(checkPod(cluster)).toBeUndefined();
      expect(apiServerArgs(cluster).includes('--v=2')).toBe('v' in next.deployment.apiServer.args);
    }
  });

  it('of a new control plane stops its API servers only', async () => {
    const cluster = await orderedCluster(refused);
    await settleBy(cluster);
    expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toBe(
      'False ConfigurationRefused: kube-apiserver v1.36.3 refuses it: unknown flag: --nonsense',
    );
    expect(conditionOf(cluster, 'EtcdClusterReady')).toContain('True');
    expect(apiServerArgs(cluster)).toBeUndefined();
    await cluster.change(withArgs({ [unknownFlag]: null }));
    await settleBy(cluster);
    expect(conditionOf(cluster, 'Ready')).toBe('True Ready: ');
  });

  it('whose pod is lost is checked again', async () => {
    const cluster = signedIn.copy();
    await cluster.change(refused);
    await settleBy(cluster);
    cluster.objects.remove(checkPod(cluster)!);
    await settleBy(cluster);
    expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain('unknown flag');
  });
});

const trusting = (url: string) => ({ oidcProviders: { [url]: issuer().oidcProviders['https://issuer.example.org'] } });
const atEndpoint = `https://${loadBalancerAddress}:6443`;
const byName = 'https://kubernetes.default.svc.cluster.local';

it("an issuer that is the cluster's own is refused by name, and nothing is run to learn that", async () => {
  const own = atEndpoint;
  const cluster = signedIn.copy();
  const before = authentication(cluster);
  await cluster.change(trusting(own));
  await settleBy(cluster);
  expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain(
    `False ConfigurationRefused: spec.oidcProviders["${own}"] is the issuer of the cluster's own service accounts, ${own}`,
  );
  expect(checkPod(cluster)).toBeUndefined();
  expect(authentication(cluster)).toBe(before);
});

it.each([
  ['a new control plane refuses its endpoint', undefined, atEndpoint, 'False ConfigurationRefused'],
  ['a new control plane accepts the issuer of kubeadm', undefined, byName, 'True'],
  ['one with the issuer of kubeadm refuses that', byName, byName, 'False ConfigurationRefused'],
  ['one with the issuer of kubeadm accepts the endpoint of another', byName, atEndpoint, 'True'],
])('%s as a token issuer', async (_, recorded, url, verdict) => {
  const cluster = recorded === undefined ? await orderedCluster(trusting(url)) : plain.copy();
  if (recorded !== undefined) {
    const annotations = { [serviceAccountIssuerAnnotation]: recorded };
    const keys = { namespace, name: namesOf(clusterName).secrets.serviceAccount };
    await cluster.user.mergePatch(Secret, keys, { metadata: { annotations } }, { fieldManager: 'user' });
    await settleBy(cluster);
    await cluster.change(trusting(url));
  }
  await settleBy(cluster);
  expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain(verdict);
});

it('the management cluster as an issuer is refused where the platform names none, and nothing else waits', async () => {
  const cluster = plain.copy();
  await cluster.change({ managementClusterIssuer: { enabled: true }, replicas: 3 });
  await settleBy(cluster);
  expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain('set MANAGEMENT_ISSUER_URL');
  expect(cluster.objects.get<StoredObject>(Deployment, 'c1-api-server')?.['spec']).toMatchObject({ replicas: 3 });
});

it('an upgrade is held while the newer kube-apiserver refuses the flags, as the condition of its checks says', async () => {
  const cluster = await completeCluster({ version: 'v1.35.1', ...withArgs({ v: '2' }) });
  await cluster.change({ version: 'v1.36.3', ...withArgs({ [unknownFlag]: '1' }) });
  await settleBy(cluster);
  expect(apiServerArgs(cluster)).toContain('kube-apiserver:v1.35.1');
  const manager = cluster.objects.get<StoredObject>(Deployment, 'c1-controller-manager');
  expect(JSON.stringify(manager)).toContain('kube-controller-manager:v1.35.1');
  expect(JSON.stringify(checkPod(cluster))).toContain('kube-apiserver:v1.36.3');
  expect(conditionOf(cluster, 'UpgradePreflightSucceeded')).toBe(
    'False ConfigurationRefused: the change of Kubernetes 1.35 to 1.36 is held: kube-apiserver v1.36.3 refuses flags, token issuers or audit settings: unknown flag: --nonsense; to skip this check, name configuration in the annotation controlplane.cluster.x-k8s.io/skip-preflight',
  );
  await cluster.change(withArgs({ [unknownFlag]: null }));
  await settleBy(cluster);
  expect(conditionOf(cluster, 'UpgradePreflightSucceeded')).toMatch(/^True/);
  expect(cluster.hostedControlPlane).toMatchObject({ status: { version: 'v1.36.3' } });
});

it('an upgrade begins although the newer kube-apiserver refuses the flags if the annotation skips that, which an event tells', async () => {
  const cluster = await completeCluster({ version: 'v1.35.1', ...withArgs({ v: '2' }) });
  const skipped = async (checks: string) => {
    const annotations = { [skipPreflightAnnotation]: checks };
    const key = { namespace, name: hostedControlPlaneName };
    await cluster.user.mergePatch(HostedControlPlane, key, { metadata: { annotations } }, { fieldManager: 'user' });
    await settleBy(cluster);
  };
  await cluster.change({ version: 'v1.36.3', upgrade: { hold: '1h' }, ...withArgs({ [unknownFlag]: '1' }) });
  await skipped('webhooks');
  expect(apiServerArgs(cluster)).not.toContain('v1.36.3');
  await skipped('configuration');
  expect(apiServerArgs(cluster)).toContain('kube-apiserver:v1.36.3');
  expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toContain(
    'False ConfigurationRefused: kube-apiserver v1.36.3 refuses flags, token issuers or audit settings: unknown flag: --nonsense; an annotation',
  );
  expect(cluster.hostedControlPlane).toMatchObject({
    status: { preflight: { skipped: [expect.stringContaining('unknown flag: --nonsense')] } },
  });
  await cluster.change({ upgrade: { hold: '0s' } });
  await settleBy(cluster);
  expect(cluster.hostedControlPlane).toMatchObject({ status: { version: 'v1.36.3' } });
  expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toBe('True ReconcileSucceeded: ');
  expect(checkPod(cluster)).toBeUndefined();
});

it('a change during the hold of an upgrade is checked as it will run afterwards, and made at once', async () => {
  const cluster = plain.copy();
  await cluster.change({ version: 'v1.37.1', upgrade: { hold: '1h' } });
  await settleBy(cluster);
  await cluster.change(withArgs({ v: '2' }));
  await settleBy(cluster);
  expect(apiServerArgs(cluster)).toMatch(/--emulated-version=1.36.*--v=2.*kube-apiserver:v1.37.1/);
  const expectChecked = () => {
    const checked = JSON.stringify(checkPod(cluster));
    expect(checked).toMatch(/--v=2.*kube-apiserver:v1.37.1/);
    expect(checked).not.toContain('--emulated-version');
  };
  expectChecked();
  await cluster.user.delete(Pod, { namespace, name: 'c1-api-server-check' });
  await settleBy(cluster);
  expectChecked();
});

it('an operator that dies at any moment of a check leaves what the next one completes', async () => {
  const cluster = signedIn.copy();
  await cluster.change({ ...withArgs({ v: '3' }), ...issuer('"sso:" + claims.sub') });
  const crashes = await everyCrash(cluster);
  expect(crashes.length).toBeGreaterThan(5);
  await expectSameAfter(crashes, cluster);
});

describe('a control plane that an earlier release runs', () => {
  const deploymentName = { namespace, name: 'c1-api-server' };
  const template = (cluster: MemoryCluster) => apiServerArgs(cluster);
  const args = { v: '2', 'enable-admission-plugins': 'AlwaysPullImages', profiling: 'false' };

  /** Its Deployment records no check. */
  async function ofEarlierRelease(): Promise<MemoryCluster> {
    const cluster = await completeCluster(withArgs(args));
    await forgetCheck(cluster);
    return cluster;
  }
  const forgetCheck = (cluster: MemoryCluster) =>
    cluster.user.mergePatch(
      Deployment,
      deploymentName,
      { metadata: { annotations: { [checkedAnnotation]: null } } },
      { fieldManager: 'user' },
    );
  const checksSince = (cluster: MemoryCluster, length: number) =>
    cluster.management.writes.slice(length).filter((write) => /Pod .*api-server-check/.test(write));
  const recorded = (cluster: MemoryCluster) =>
    cluster.objects.get(Deployment, deploymentName.name)?.metadata.annotations?.[checkedAnnotation];

  it('keeps its pods and is never unready: the flags with which it runs need no check', async () => {
    const cluster = await ofEarlierRelease();
    const before = template(cluster);
    const crashes = await everyCrash(cluster);
    for (const one of [...crashes.map((crash) => crash.cluster), cluster]) {
      expect(template(one)).toBe(before);
      expect(checkPod(one)).toBeUndefined();
      expect(conditionOf(one, 'APIServerConfigurationAccepted')).toBe('True ReconcileSucceeded: ');
      expect(conditionOf(one, 'Ready')).toBe('True Ready: ');
    }
    expect(recorded(cluster)).toMatch(/^[0-9a-f]{12}$/);
    await expectSameAfter(crashes, cluster);
  });

  it.each([
    ['another flag', withArgs({ ...args, 'event-ttl': '2h' })],
    ['a flag with another value', withArgs({ ...args, v: '3' })],
    ['one more entry of a list', withArgs({ ...args, 'enable-admission-plugins': 'AlwaysPullImages,None' })],
    ['another image', { deployment: { apiServer: { image: { tag: 'v1.36.3-other' } } } }],
    ['a token issuer', issuer()],
    ['an issuer of service account tokens', { serviceAccountIssuer: { acceptedIssuers: [byName] } }],
  ])('has a check for %s', async (_, change) => {
    const cluster = await ofEarlierRelease();
    const { length } = cluster.management.writes;
    await cluster.change(change);
    await settleBy(cluster);
    expect(checksSince(cluster, length)).not.toEqual([]);
    expect(conditionOf(cluster, 'APIServerConfigurationAccepted')).toBe('True ReconcileSucceeded: ');
  });

  it('has a check when its API servers do not run by what its Deployment says', async () => {
    const cluster = await ofEarlierRelease();
    const { length } = cluster.management.writes;
    const status = { status: { availableReplicas: 0 } };
    await cluster.user.mergePatch(Deployment, deploymentName, status, { fieldManager: 'user', subresource: 'status' });
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    expect(checksSince(cluster, length)).not.toEqual([]);
    await operator.stop();
  });
});
