import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Secret } from '../../constructs/api/resources.ts';
import { etcdMemberHost } from '../../constructs/cluster/names.ts';
import { ports } from '../../constructs/cluster/ports.ts';
import { MemberClient } from '../../reconciler/etcd/client.ts';
import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { pairOf, type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { dialledProbes } from '../../reconciler/certificates/ca/trust-probes.ts';
import { recordFault } from '../support/fault-table.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { until } from '../support/until.ts';
import { kubernetesVersion } from '../support/workbench.ts';
import { lookupFor } from '../tools/testbed/gateway-address.ts';
import { type HostedApi, openHostedApi } from '../tools/testbed/hosted-api.ts';
import { instanceFrom } from '../tools/testbed/instance.ts';
import { addWorker, removeWorker, withHostedApi, type Worker } from '../tools/testbed/workers.ts';
import { Random } from '../simulation/random.ts';
import { NodeWatcher } from '../cluster/workers/node-watcher.ts';
import { RestartCounter } from '../support/restart-counter.ts';
import { ContinuousLoad, kubeletPath } from '../support/continuous-load.ts';

const name = { namespace: 'under-load', name: 'rotated' };
/** A kubelet renews its certificate after 70 to 90 % of this, instead of a year's. */
const args = { 'cluster-signing-duration': '10m' };
const spec = {
  version: kubernetesVersion,
  replicas: 2,
  etcd: { replicas: 3 },
  exposure: { loadBalancer: {} },
  deployment: { controllerManager: { args } },
};
const limitMs = 25 * 60_000;
const random = new Random(Number(process.env['HCP_SEED'] ?? Date.now() % 1_000_000));

let worker: Worker;
let load: ContinuousLoad;
let node: NodeWatcher;
let restarts: RestartCounter;
let old: Record<'etcd' | 'cluster' | 'proxy', KeyPair>;

const instance = instanceFrom(process.env, inject('testbed'));
const bench = operatedNamespace(name.namespace, { lookup: lookupFor(instance) });
const open = <T>(work: (api: HostedApi) => Promise<T>): Promise<T> => withHostedApi(instance, name, work);
const secretNamed = (secret: string) =>
  bench.client.get<SecretObject>(Secret, { namespace: name.namespace, name: `${name.name}-${secret}` });

async function pairNamed(secret: string): Promise<KeyPair> {
  const pair = pairOf(await secretNamed(secret));
  if (!pair) throw new Error(`Secret ${name.name}-${secret} holds no pair`);
  return pair;
}

beforeAll(async () => {
  console.log(`seed ${random.seed}`);
  await bench.create(name.name, spec);
  await bench.untilReady(name.name, 240_000);
  const api = await openHostedApi(instance, bench.client, name);
  worker = await addWorker(instance, api);
  const path = `/api/v1/nodes/${worker.name}/proxy/healthz`;
  await until('the kubelet to be reached', () => api.client.raw(path).catch(() => false), 240_000);
  await api.client.connection.close();
  old = { etcd: await pairNamed('etcd'), cluster: await pairNamed('ca'), proxy: await pairNamed('proxy') };
  load = new ContinuousLoad({
    path: kubeletPath(worker.name),
    open: async () => (await openHostedApi(instance, bench.client, name)).client,
  });
  node = new NodeWatcher(worker.name, open);
  restarts = new RestartCounter(bench.client, { namespace: name.namespace, cluster: name.name });
}, 600_000);

afterAll(async () => {
  await load?.stop();
  await node?.stop();
  await restarts?.stop();
  if (worker) await removeWorker(instance, worker.name);
  await bench.deleteAll();
}, 300_000);

/** Raft's term, which every election increments. */
async function term(): Promise<number> {
  const [certificateAuthority, own] = [await pairNamed('etcd'), await pairNamed('etcd-controller')];
  const pods = await podsOf('etcd');
  const terms = await Promise.all(
    pods.map(async ({ metadata, status }) => {
      const serverName = etcdMemberHost(name, Number(metadata.name.slice(-1)));
      const endpoint = { name: metadata.name, address: `${status?.podIP}:${ports.etcdClient}`, serverName };
      const member = new MemberClient(endpoint, {
        ca: certificateAuthority.certificate,
        cert: own.certificate,
        key: own.key,
      });
      return member
        .status()
        .then(
          (answer) => answer.status.raftTerm,
          () => 0,
        )
        .finally(() => member.close());
    }),
  );
  return Math.max(...terms);
}

const podsOf = (component: 'etcd' | 'api-server') => bench.pods(name.name, component);

interface Rotation {
  readonly what: string;
  readonly field: 'etcdCA' | 'proxyCA' | 'clusterCA' | 'serviceAccountKey';
  readonly secret: string;
  readonly condition: 'CARotationReady' | 'ServiceAccountKeyRotationReady';
  /** The end of the wait: tokens of a key outlive every test. */
  readonly until: 'done' | 'signs';
  /** How often an etcd member may be restarted. */
  readonly memberRestarts: number;
}

/** Rotates, with an operator that is stopped at a random moment, and returns the cost. */
async function rotate(rotation: Rotation): Promise<void> {
  const { what, field, secret, condition, memberRestarts } = rotation;
  const before = { counts: await restarts.count(), term: await term(), begun: performance.now(), ...faultsNow() };
  const tallies = { ...tallyNow() };
  const signer = valueOf(await secretNamed(secret), 'tls.key');
  await bench.patch(name.name, { spec: { certificates: { rotation: { [field]: `request ${random.seed}` } } } });
  const stopAt = random.between(1, 90) * 1000;
  let isStopped = false;
  const reported = new Set<string>();
  await until(
    `the rotation of the ${what} to be over`,
    async () => {
      const now = await bench.condition(name.name, condition);
      const text = `${now?.status} ${now?.reason}: ${now?.message}`;
      if (!reported.has(text))
        console.log(`${((performance.now() - before.begun) / 1000).toFixed(0)} s ${what}: ${text}`);
      reported.add(text);
      if (!isStopped && performance.now() - before.begun > stopAt) {
        isStopped = true;
        await bench.restartOperator();
      }
      if (valueOf(await secretNamed(secret), 'tls.key') === signer) return false;
      return rotation.until === 'signs' || now?.status === 'True';
    },
    limitMs,
  );
  await bench.untilReady(name.name, 300_000);

  const seconds = Math.round((performance.now() - before.begun) / 1000);
  const counts = await restarts.count();
  const started = Object.entries(counts)
    .map(([component, count]) => [component, count - (before.counts[component] ?? 0)] as const)
    .filter(([, count]) => count > 0);
  const elections = (await term()) - before.term;
  const now = tallyNow();
  const tally = `${now.writes - tallies.writes} writes, ${now.calls - tallies.calls} calls through the worker and ${now.events - tallies.events} watched changes; ${now.reconnects - tallies.reconnects} of them on a new connection`;
  const cost = started.map(([component, count]) => `${count} ${component}`).join(', ') || 'none';
  console.log(`${what}: ${seconds} s; restarted: ${cost}; ${elections} elections; ${tally}`);

  const failures = failuresNow();
  const problems = [...node.problems];
  // Vitest prints failures only at the end, which is much later.
  console.log([...failures, ...problems].slice(0, 20).join('\n') || 'nothing failed');

  expect(failures.slice(before.failures)).toEqual([]);
  expect(elections).toBeLessThanOrEqual(memberRestarts);
  expect(Object.fromEntries(started)['etcd'] ?? 0).toBe(memberRestarts);
  expect(problems.slice(before.problems)).toEqual([]);
  await recordFault({
    fault: `${what} rotated under load, with the operator stopped meanwhile`,
    observed: `complete in ${seconds} s; pods restarted: ${cost}; ${elections} elections of etcd; ${tally}; none failed; the worker stays Ready`,
    recoverySeconds: undefined,
    dataLost: 'none',
  });
  const directory = process.env['HCP_RESTART_TABLE'];
  if (directory)
    await writeFile(directory, `| ${what} | ${seconds} s | ${cost} | ${elections} | ${tally} |\n`, { flag: 'a' });
}

function failuresNow(): string[] {
  return [load.writes, load.calls, load.events]
    .flatMap(({ failures }) => failures)
    .toSorted((a, b) => a.localeCompare(b, 'en'));
}

/** How many there were before; a rotation that was tested earlier has caused them. */
function faultsNow() {
  return { failures: failuresNow().length, problems: node.problems.length };
}

function tallyNow() {
  const { writes, calls, events } = load;
  const reconnects = writes.reconnects + calls.reconnects + events.reconnects;
  return { writes: writes.answered, calls: calls.answered, events: events.answered, reconnects };
}

/** A client certificate that the previous CA signs now. */
const clientSignedBy = (certificateAuthority: KeyPair, commonName: string, organizations: readonly string[] = []) =>
  issueCertificate(
    { commonName, organizations, usages: ['client'], hosts: [] },
    certificateAuthority,
    validFor(600_000, new Date()),
  );

describe('with a writer, a watcher and calls through a worker that never stop', { timeout: limitMs }, () => {
  test('the etcd CA is rotated, and its old certificates are refused', async () => {
    const etcdCA = { field: 'etcdCA', secret: 'etcd', condition: 'CARotationReady', until: 'done' } as const;
    await rotate({ what: 'CA of etcd', ...etcdCA, memberRestarts: 6 });
    const client = await clientSignedBy(old.etcd, 'hosted-control-plane-controller');
    const { certificate: certificateAuthority } = await pairNamed('etcd');
    for (const { metadata, status } of await podsOf('etcd')) {
      const serverName = etcdMemberHost(name, Number(metadata.name.slice(-1)));
      const server = { host: status?.podIP ?? '', port: ports.etcdHTTP, serverName, ca: certificateAuthority };
      expect(await dialledProbes.isAdmitted(server, client)).toBe(false);
      await expect(dialledProbes.servedBy({ ...server, ca: old.etcd.certificate })).rejects.toThrow(
        /verif|self-signed|certificate/,
      );
    }
  });

  test('the front proxy CA is rotated, and its old certificates cannot impersonate', async () => {
    const proxyCA = { field: 'proxyCA', secret: 'proxy', condition: 'CARotationReady', until: 'done' } as const;
    await rotate({ what: 'CA of the front proxy', ...proxyCA, memberRestarts: 0 });
    expect(await userOf(await clientSignedBy(old.proxy, 'front-proxy-client'), 'anybody')).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('the service account key is rotated', async () => {
    const key = { field: 'serviceAccountKey', secret: 'sa', condition: 'ServiceAccountKeyRotationReady' } as const;
    const before = await pairNamed('sa');
    await rotate({ what: 'key of service account tokens', ...key, until: 'signs', memberRestarts: 0 });
    // The new one signs, and tokens of the previous one are accepted as long as there are any.
    const after = await pairNamed('sa');
    expect(after.key).not.toBe(before.key);
    expect(after.certificate).toContain(before.certificate.trim());
  });

  test('the cluster CA is rotated, and its old certificates authenticate no user', async () => {
    const clusterCA = { field: 'clusterCA', secret: 'ca', condition: 'CARotationReady', until: 'done' } as const;
    await rotate({ what: 'CA of the cluster', ...clusterCA, memberRestarts: 0 });
    const administrator = await clientSignedBy(old.cluster, 'kubernetes-admin', ['system:masters']);
    expect(await userOf(administrator)).toEqual([undefined, undefined]);
  });

  test('the watcher has seen every write', async () => {
    await load.stopWriting();
    await until('the last events', () => load.unseen.length === 0, 30_000);
    expect(load.writes.answered).toBeGreaterThan(1000);
  });
});

/** The user that each API server reports for a client. */
async function userOf(client: KeyPair, asUser?: string): Promise<(string | undefined)[]> {
  const { certificate: certificateAuthority } = await pairNamed('ca');
  const serverName = `s-${name.name}.${name.namespace}.svc`;
  const servers = await podsOf('api-server');
  return Promise.all(
    servers.map(({ status }) =>
      dialledProbes.userOf(
        { host: status?.podIP ?? '', port: 6443, serverName, ca: certificateAuthority },
        client,
        asUser,
      ),
    ),
  );
}
