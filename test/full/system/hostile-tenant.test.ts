import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import {
  backupAnnotation,
  backupIdentityAnnotation,
  backupTokenServicesAnnotation,
} from '../../../constructs/api/group.ts';
import {
  Deployment,
  Ingress,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from '../../../constructs/api/resources.ts';
import { providerNames, rbacGroup } from '../../../constructs/cluster/provider-names.ts';
import type { KeyPair } from '../../../reconciler/pki/issue.ts';
import { encodedData } from '../../../reconciler/pki/secret.ts';
import { AuditReceiver, createReceiverCA } from '../../support/audit-receiver.ts';
import { storeSecret } from '../../support/backup-secrets.ts';
import { forgedRegistry, forgeRecords } from '../../support/hostile-tenant/forger.ts';
import { BlankTokenService, EndlessStore } from '../../support/hostile-tenant/hostile-servers.ts';
import { Neighbour } from '../../support/hostile-tenant/neighbour.ts';
import { loadStandIn, standInImage } from '../../support/hostile-tenant/stand-in-image.ts';
import { TenantNamespace } from '../../support/hostile-tenant/tenant-namespace.ts';
import { WatchedOperator } from '../../support/hostile-tenant/watched-operator.ts';
import { storeAt } from '../../support/object-store-server.ts';
import {
  installProvider,
  loadFanOutImage,
  providerDeployment,
  providerNamespace,
  removeProvider,
} from '../../support/provider.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';
import { instanceFrom, lanAddress } from '../../tools/testbed/instance.ts';
import { kubectl } from '../../tools/testbed/kubectl.ts';

// All attacks at the same time, on an operator as its installation runs it. What they are is in reconciler/THREATS.md.
const namespace = 'hostile';
const instance = instanceFrom(process.env, inject('testbed'));
const host = lanAddress(instance, 1);
const fieldManager = 'test';
const planes = Array.from({ length: 8 }, (_, index) => `endless-${index + 1}`);
const report = (line: string) => console.log(line);

let home: Workbench;
let neighbour: Neighbour;
let tenant: TenantNamespace;
let operator: WatchedOperator;
let receiver: AuditReceiver;
let store: EndlessStore;
let tokens: BlankTokenService;
let atRest: Readonly<Record<string, number>>;
let begunAt: number;

/** Some of what a platform that has tenants sets. */
const settings = ['INGRESS_CLASSES=nginx', 'LOAD_BALANCER_CLASSES=example.org/tenants'];

beforeAll(async () => {
  // What a run that was killed has left goes while no operator adds its finalizers again.
  await removeProvider(instance);
  home = await Workbench.open(inject('kubeconfig'), 'neighbour');
  tenant = await TenantNamespace.open(inject('kubeconfig'), namespace);
  await installProvider(instance, report);
  const deployment = ['deployment', providerDeployment, '--namespace', providerNamespace];
  await kubectl(instance, ['set', 'env', ...deployment, ...settings]);
  await Promise.all([loadStandIn(instance), loadFanOutImage(instance, report)]);
  await kubectl(instance, ['rollout', 'status', ...deployment, '--timeout=120s']);
  const ca = await createReceiverCA();
  receiver = await AuditReceiver.start(ca, { host });
  [store, tokens] = await Promise.all([EndlessStore.start(host), BlankTokenService.start(ca, host)]);
  neighbour = await Neighbour.settle(instance, home);
  await tenant.limit();
  await giveByPlatform(ca);
  operator = new WatchedOperator(neighbour.bench.client);
  atRest = await operator.restarts();
});
afterAll(async () => {
  const failed: unknown[] = [];
  const end = async (what: () => unknown) => {
    try {
      await what();
    } catch (error) {
      failed.push(error);
    }
  };
  // First, because it would add its finalizers again.
  await end(() => removeProvider(instance));
  await end(() => tenant?.close());
  await end(() => neighbour?.stop());
  await end(() => home?.close());
  for (const server of [receiver, store, tokens]) await end(() => server?.stop());
  if (failed.length > 0) throw new AggregateError(failed, 'something is left behind');
});

/** What the namespace of the tenant has besides: the tenant itself may write none of these. */
async function giveByPlatform(ca: KeyPair): Promise<void> {
  const { client } = tenant.bench;
  const place = (name: string) => ({ namespace, name });
  await client.create(storeSecret(place('endless'), storeAt(store.endpoint)), { fieldManager });
  const tls = { 'ca.crt': ca.certificate };
  await client.create(storeSecret(place('tokens'), storeAt('https://store.example.org'), tls), { fieldManager });
  const { apiVersion, kind } = Secret;
  const data = encodedData({ token: 'token-for-somebody-else' });
  await client.create({ apiVersion, kind, metadata: place('not-for-audit'), data }, { fieldManager });
  const annotations = {
    [backupIdentityAnnotation]: 'bombs-cp',
    [backupTokenServicesAnnotation]: tokens.address,
  };
  const account = { apiVersion: ServiceAccount.apiVersion, kind: ServiceAccount.kind };
  await client.create({ ...account, metadata: { ...place('backups'), annotations } }, { fieldManager });
  const { backupIdentityRole, serviceAccount } = providerNames;
  const binding = {
    apiVersion: RoleBinding.apiVersion,
    kind: RoleBinding.kind,
    metadata: place('backup-identity'),
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: backupIdentityRole },
    subjects: [{ kind: ServiceAccount.kind, namespace: providerNamespace, name: serviceAccount }],
  };
  await client.create(binding, { fieldManager });
}

const small = { resources: { requests: { cpu: '10m', memory: '32Mi' } } };
const ofTenant = { ...small, image: standInImage };
const yearly = { schedule: '0 0 1 1 *', verify: { disabled: true } };

/** An API server that answers with bombs, metrics that take a pattern hours, and a token service whose answer does, too. */
const bombs = {
  ...single,
  deployment: { apiServer: ofTenant, controllerManager: ofTenant, scheduler: ofTenant },
  encryptionAtRest: { provider: 'secretbox' },
  etcd: {
    ...small,
    replicas: 1,
    backup: {
      ...yearly,
      secret: { name: 'tokens' },
      webIdentity: {
        roleARN: 'arn:aws:iam::1:role/any',
        serviceAccountName: 'backups',
        get tokenServiceURL() {
          return `https://${tokens.address}/`;
        },
      },
    },
  },
};

/** An etcd whose backup never ends, and an API server that serves nobody. */
const endless = {
  ...single,
  deployment: { apiServer: { ...ofTenant, env: [{ name: 'ANSWERS', value: 'nothing' }] } },
  etcd: { ...small, replicas: 1, backup: { ...yearly, secret: { name: 'endless' } } },
};

const shared = `of-others.${namespace}.clusters.example.org`;
const snippet = 'nginx.ingress.kubernetes.io/server-snippet';
const hostname = 'external-dns.alpha.kubernetes.io/hostname';
/** Ways in that reach others. */
const routed = {
  [planes[0]!]: {
    ingress: {
      apiHost: `api.${shared}`,
      konnectivityHost: `agents.${shared}`,
      controller: 'nginx',
      className: 'internal',
      annotations: { [snippet]: 'return 200;' },
    },
  },
  [planes[1]!]: {
    loadBalancer: { loadBalancerClass: 'example.org/internal', annotations: { [hostname]: 'victim.example.org' } },
  },
} as const;

const backupNow = { [backupAnnotation]: 'now' };

describe('a tenant beside the control plane of somebody else', () => {
  test.each(Object.entries(routed))('is refused the way in of %s by the sample policy', async (cluster, exposure) => {
    let answer = '';
    const isRefused = async () => {
      const attempt = tenant.tryOut(cluster, { ...endless, exposure });
      answer = await attempt.then(
        () => 'accepted',
        (error: unknown) => String(error),
      );
      return answer !== 'accepted';
    };
    // An API server reads a new policy after a moment.
    await until('the policy', isRefused);
    expect(answer).toMatch(/an annotation of the (Ingress|load balancer) is not among those that the platform allows/);
  });

  test('orders the worst that it may', async () => {
    begunAt = Date.now();
    await tenant.order('bombs', bombs, backupNow);
    await tenant.order('audited', audited());
    for (const cluster of planes.slice(2)) await tenant.order(cluster, endless);
    // The lists of the operator hold where a platform has no policy, too.
    await tenant.withdrawPolicy();
    for (const [cluster, exposure] of Object.entries(routed)) {
      const order = () =>
        tenant.order(cluster, { ...endless, exposure }).then(
          () => true,
          () => false,
        );
      await until('the policy to be gone', order);
    }
    await neighbour.bench.patch(neighbour.cluster, {
      spec: { deployment: { apiServer: { args: { 'event-ttl': '2h' } } } },
    });
    await neighbour.bench.untilRolledOut(neighbour.cluster);
    expect(Object.keys(atRest)).toHaveLength(2);
  });

  test('gets no annotation and no class that the platform does not list', async () => {
    const { client } = tenant.bench;
    for (const cluster of Object.keys(routed)) {
      const unlisted = { status: 'False', reason: 'Overruled' } as const;
      const { message } = await tenant.bench.untilCondition(cluster, 'SpecSupported', unlisted);
      report(`${cluster}: ${message}`);
      expect(message).toMatch(/(INGRESS|LOAD_BALANCER)_ANNOTATIONS/);
      expect(message).toMatch(/(INGRESS|LOAD_BALANCER)_CLASSES/);
    }
    const ingresses = await until('the Ingresses', async () => {
      const { items } = await client.list(Ingress, { namespace });
      return items.length > 0 && items;
    });
    const services = (await client.list(Service, { namespace })).items;
    const text = JSON.stringify([ingresses, services]);
    for (const refused of [snippet, hostname, '"internal"', 'example.org/internal', 'victim'])
      expect(text).not.toContain(refused);
  });

  test('sends no Secret of its namespace to a receiver that the Secret does not name', async () => {
    const invalid = { status: 'False', reason: 'AuditSecretInvalid', message: /not-for-audit.*annotation/ } as const;
    report((await tenant.bench.untilCondition('audited', 'AuditReady', invalid)).message);
    expect([receiver.requests, receiver.authorizations]).toEqual([0, []]);
  });

  test('has conditions that say that nothing of its API server and its token service is read', async () => {
    const tooMuch = { status: 'False', message: /the operator does not read the answer of the API server/ } as const;
    report((await tenant.bench.untilCondition('bombs', 'WorkloadRBACReady', tooMuch)).message);
    const noRole = { status: 'False', message: /cannot assume/ } as const;
    report((await tenant.bench.untilCondition('bombs', 'EtcdBackupReady', noRole)).message);
    expect(tokens.requests).toBeGreaterThan(0);
    await tenant.change('bombs', { spec: { encryptionAtRest: { rotation: 'again' } } });
    const unproven = { status: 'False', message: /load/ } as const;
    report((await tenant.bench.untilCondition('bombs', 'EncryptionAtRestReady', unproven)).message);
  });

  test('holds no more than half of the turns of backups, and the others are taken on time', async () => {
    // That of the token service has had its turn.
    for (const cluster of planes) await tenant.change(cluster, { metadata: { annotations: backupNow } });
    const conditions = () => Promise.all(planes.map((cluster) => tenant.bench.condition(cluster, 'EtcdBackupReady')));
    const said = async (wanted: RegExp) =>
      (await conditions()).filter((one) => wanted.test(`${one?.status} ${one?.message}`)).length;
    await until('half of them to hold a turn', async () => (await said(/listing the existing/)) >= 4, 120_000);
    const heldSince = Date.now();
    expect(store.waiting.length).toBeGreaterThanOrEqual(4);
    await until('backups to fail', async () => (await said(/^False .*store/)) >= 4, 300_000);
    report((await conditions()).map((one) => `${one?.status} ${one?.reason}: ${one?.message}`).join('\n'));
    expect(neighbour.minutesWithout(heldSince, Date.now(), 30_000)).toEqual([]);
    expect(neighbour.backups).toBeGreaterThan(1);
  });

  test('changes nothing of the other one by forged records', async () => {
    const { bench, cluster } = neighbour;
    const deployments = async () =>
      JSON.stringify((await bench.client.list(Deployment, { namespace: bench.namespace })).items);
    await forgeRecords(bench, inject('kubeconfig'), cluster);
    // A mistake of its owner: only then the operator goes by a record.
    await bench.patch(cluster, { spec: { componentTemplateRef: { name: 'does-not-exist' } } });
    const before = { status: 'False', message: /until you correct it, the operator reconciles/ } as const;
    report((await bench.untilCondition(cluster, 'SpecAccepted', before)).message);
    expect(await deployments()).not.toContain(forgedRegistry);
    await bench.patch(cluster, { spec: { componentTemplateRef: null } });
    await bench.untilRolledOut(cluster);
    expect(await deployments()).not.toContain(forgedRegistry);
    expect(await deployments()).toContain('--event-ttl=2h');
  });

  test('ends no process of the operator, and takes none of its memory that others need', async () => {
    const memory = await operator.memory();
    report(`memory: ${memory.map(({ mostBytes }) => `${(mostBytes / 2 ** 20).toFixed(0)} MiB`).join(', ')}`);
    for (const { limitBytes, mostBytes } of memory) {
      expect(limitBytes).toBe(2 ** 30);
      expect(mostBytes).toBeLessThan(0.75 * limitBytes);
    }
    expect(await operator.restarts()).toEqual(atRest);
    expect(neighbour.faults).toEqual([]);
    report(`attacked for ${((Date.now() - begunAt) / 1000).toFixed(0)} s`);
  });

  test('is served when its Secret names the receiver', async () => {
    const annotations = { 'controlplane.cluster.x-k8s.io/audit-receivers': new URL(receiver.url).host };
    expect(receiver.requests).toBe(0);
    const secret = { namespace, name: 'not-for-audit' };
    await tenant.bench.client.mergePatch(Secret, secret, { metadata: { annotations } }, { fieldManager });
    await tenant.bench.untilSeen('audited');
    await until('records', async () => receiver.records.length > 0, 180_000);
    expect(new Set(receiver.authorizations)).toEqual(new Set(['Bearer token-for-somebody-else']));
  });
});

/** A real API server, whose records go to a receiver of the tenant with a Secret that is not for it. */
function audited(): object {
  const policy = { rules: [{ level: 'Metadata' }] };
  const authentication = { secretName: 'not-for-audit' };
  const targets = [{ server: receiver.url, certificateAuthority: receiver.ca, authentication }];
  const args = { 'audit-webhook-batch-max-wait': '1s' };
  return { ...single, deployment: { apiServer: { ...small, args, audit: { policy, webhook: { targets } } } } };
}
