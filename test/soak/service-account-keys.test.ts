import type { SecretObject } from '../../imports/kubernetes.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Pod, Secret } from '../../constructs/api/resources.ts';
import { clusterNameLabel } from '../../constructs/api/group.ts';
import { keyOf } from '../../reconciler/certificates/service-account-key/kept-tokens.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { verifyingKeysOf } from '../../reconciler/pki/service-account-keys.ts';
import { readTokenRecord, tokensAnnotation } from '../../reconciler/certificates/service-account-key/token-record.ts';
import { recordFault } from '../support/fault-table.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { TokenUser } from '../support/token-user.ts';
import { inEachState, until } from '../support/until.ts';
import { single } from '../support/workbench.ts';

const namespace = 'tokens';
const cluster = 'c1';
const fieldManager = 'test';
const year = 365 * 24 * 3600;
/** Every API server is replaced three times, one after the other, on a shared machine. */
const rotationMs = 12 * 60_000;

const bench = operatedNamespace(namespace);
let hosted: KubeClient;
let user: TokenUser;

beforeAll(async () => {
  await bench.create(cluster, { ...single, replicas: 2 });
  await bench.untilReady(cluster, 240_000);
  hosted = await bench.hosted(cluster);
  user = new TokenUser(bench, cluster);
});
afterAll(async () => {
  await user.stop();
  await hosted.connection.close();
});

const secretName = { namespace, name: `${cluster}-sa` };
const keysSecret = () => bench.client.get<SecretObject>(Secret, secretName);
const keys = async () => verifyingKeysOf(valueOf(await keysSecret(), 'tls.crt') ?? '').map(({ id }) => id);
const condition = () => bench.condition(cluster, 'ServiceAccountKeyRotationReady');

/** Pods of the control plane by component, each with the start times of its containers. */
async function started(): Promise<Map<string, Set<string>>> {
  const { items } = await bench.client.list(Pod, { namespace, labelSelector: `${clusterNameLabel}=${cluster}` });
  const found = new Map<string, Set<string>>();
  for (const { metadata } of items) {
    const component = metadata.labels?.['app.kubernetes.io/component'] ?? '';
    found.set(component, (found.get(component) ?? new Set()).add(metadata.uid ?? ''));
  }
  return found;
}

async function createLegacyToken(name: string): Promise<string> {
  const { apiVersion, kind } = Secret;
  const annotations = { 'kubernetes.io/service-account.name': 'default' };
  const metadata = { namespace: 'default', name, annotations };
  await hosted.create({ apiVersion, kind, metadata, type: 'kubernetes.io/service-account-token' }, { fieldManager });
  return untilKnown(await legacyToken(name));
}

/** Each API server compares a token in a Secret with its cached copy, which may be stale for a moment. */
async function untilKnown(token: string): Promise<string> {
  for (const server of await user.addresses())
    await until(`the token at ${server}`, () => user.accepts(server, token).catch(() => false));
  return token;
}

const legacyToken = (name: string) =>
  until(`a token in Secret ${name}`, async () =>
    valueOf(await hosted.get<SecretObject>(Secret, { namespace: 'default', name }), 'token'),
  );

/** A token as kubelets request it for a pod. */
async function podToken(address: string): Promise<{ token: string; lifetimeSeconds: number }> {
  const { apiVersion, kind } = Pod;
  const metadata = { namespace: 'default', name: 'waits-for-ever' };
  const spec = { containers: [{ name: 'any', image: 'any.example.org/any' }] };
  await hosted.create({ apiVersion, kind, metadata, spec }, { fieldManager });
  return user.ask(address, { expirationSeconds: 3607, boundObjectRef: { apiVersion, kind, name: metadata.name } });
}

test('the service account key is rotated while tokens of every kind are used at every API server and operators die', async () => {
  const [old = ''] = await keys();
  const [address = ''] = await user.addresses();
  // The lifetimes that Kubernetes grants for requested ones.
  expect((await user.ask(address, { expirationSeconds: 20_000 * 3600 })).lifetimeSeconds).toBe(year);
  const ofPod = await podToken(address);
  expect(ofPod.lifetimeSeconds).toBe(year);
  const plain = await user.ask(address);
  user.add('of a pod', ofPod.token);
  user.add('of before', plain.token);
  user.add('kept in a Secret', await createLegacyToken('legacy'));
  expect(keyOf(plain.token)).toBe(old);

  const before = await started();
  const seen = new Map([...before].map(([component, uids]) => [component, new Set(uids)]));
  const begun = performance.now();
  await bench.patch(cluster, { spec: { certificates: { rotation: { serviceAccountKey: 'first' } } } });
  const diedIn: string[] = [];
  /** In each state tokens are requested, and the operator dies. */
  const liveUntil = (what: string, isOver: () => Promise<boolean>) =>
    inEachState(
      what,
      async () => {
        for (const [component, uids] of await started()) {
          for (const uid of uids) seen.set(component, (seen.get(component) ?? new Set()).add(uid));
        }
        if (await isOver()) return undefined;
        return `${(await keys()).length} ${(await keys())[0] === old} ${(await condition())?.reason}`;
      },
      async (state) => {
        for (const server of await user.addresses()) {
          const given = await user.ask(server).catch(() => undefined);
          if (given) user.add(`${state} at ${server}`, given.token);
        }
        diedIn.push(state);
        await bench.restartOperator();
      },
      rotationMs,
    );

  await liveUntil('tokens to be waited for', async () => (await condition())?.reason === 'WaitingForTokens');
  const [signer = ''] = await keys();
  expect(await keys()).toEqual([signer, old]);
  expect(signer).not.toBe(old);
  expect(await bench.client.find(Secret, { namespace, name: `${cluster}-sa-next` })).toBeUndefined();
  for (const server of await user.addresses()) expect(keyOf((await user.ask(server)).token)).toBe(signer);
  const expiry = readTokenRecord(await keysSecret()).expiries[old];
  expect(expiry?.getTime()).toBeGreaterThan(Date.now() + year * 1000);
  const signingSeconds = Math.round((performance.now() - begun) / 1000);

  // A year passes: the recorded expiry of the old key is in the past now. A token in a Secret does not expire.
  const expiries = { [old]: new Date(Date.now() - 1000).toISOString() };
  const record = JSON.stringify({ lifetimeSeconds: year, expiries });
  await bench.client.mergePatch(
    Secret,
    secretName,
    { metadata: { annotations: { [tokensAnnotation]: record } } },
    { fieldManager },
  );
  const waiting = await until(
    'the Secret to be named',
    async () => {
      const found = await condition();
      return found?.message.includes('default/legacy') ? found : undefined;
    },
    120_000,
  );
  expect(waiting.message).toContain('1 Secret contains a token of the old key');
  expect(await keys()).toEqual([signer, old]);
  expect(user.refused).toEqual([]);

  // A token that is removed from its Secret is refused at once, whatever key has signed it.
  user.drop((name) => name === 'kept in a Secret');
  await hosted.mergePatch(
    Secret,
    { namespace: 'default', name: 'legacy' },
    { data: { token: null } },
    { fieldManager },
  );
  const renewed = await until('another token', async () => {
    const token = await legacyToken('legacy');
    return keyOf(token) === signer ? token : undefined;
  });
  const uses = user.used;
  // The tokens that would have expired after a year.
  user.drop(() => true);
  user.add('kept in a Secret', await untilKnown(renewed));
  for (const server of await user.addresses()) user.add(`new at ${server}`, (await user.ask(server)).token);
  await bench.restartOperator();
  await liveUntil('the end', async () => (await condition())?.status === 'True');

  expect(await keys()).toEqual([signer]);
  for (const server of await user.addresses()) {
    expect(await user.accepts(server, plain.token)).toBe(false);
    expect(await user.accepts(server, renewed)).toBe(true);
  }
  await until('more uses', () => user.used > uses + 20, 60_000);
  expect(user.refused).toEqual([]);
  // With each set of keys. A reason may be over before it is observed.
  const keySets = new Set(diedIn.map((state) => state.split(' ', 2).join(' ')));
  expect([...keySets]).toEqual(['1 true', '2 true', '2 false', '1 false']);

  const restarts = Object.fromEntries(
    [...seen].map(([component, uids]) => {
      const count = before.get(component)?.size ?? 1;
      return [component, (uids.size - count) / count];
    }),
  );
  expect(restarts).toEqual({ 'api-server': 3, 'controller-manager': 1, scheduler: 0, etcd: 0 });
  await recordFault({
    fault:
      'the operator stopped in every state of a rotation of the key of service account tokens, with two API servers',
    observed: `${diedIn.length} operators run one after the other; each API server is replaced three times and the controller manager once; tokens of before and of every state are used ${user.used} times, at each API server by its address, none refused and ${user.unanswered} not answered; a new key signs after ${signingSeconds} s; a Secret that keeps a token of the old key is named by the condition`,
    recoverySeconds: undefined,
    dataLost: 'none',
  });
});

test('another issuer signs once every API server accepts it, and tokens of the former one stay valid', async () => {
  user.drop(() => true);
  const { serviceAccountIssuer: former = '' } = (await bench.get(cluster)).status ?? {};
  const [address = ''] = await user.addresses();
  const { token: before } = await user.ask(address);
  expect(issuerOf(before)).toBe(former);
  user.add('of before', before);

  const issuer = 'https://tokens.example.org';
  const accepting = (...acceptedIssuers: string[]) =>
    bench.patch(cluster, { spec: { serviceAccountIssuer: { issuer, acceptedIssuers } } });
  await expect(accepting('https://another.example.org')).rejects.toThrow(`lacks the present issuer, ${former}`);
  await accepting(former);
  const seen = new Set<string>();
  await until(
    'every API server to sign with it',
    async () => {
      const servers = await user.addresses();
      const given = await Promise.all(servers.map((server) => user.ask(server).catch(() => undefined)));
      for (const [index, { token } = { token: before }] of given.entries()) {
        const name = `${issuerOf(token)} at ${servers[index]}`;
        if (!seen.has(name)) user.add(name, token);
        seen.add(name);
      }
      return given.length === 2 && given.every((one) => one && issuerOf(one.token) === issuer);
    },
    rotationMs,
  );
  await bench.untilReady(cluster, 120_000);
  expect((await bench.get(cluster)).status?.serviceAccountIssuer).toBe(issuer);
  const uses = user.used;
  await until('more uses', () => user.used > uses + 20, 60_000);
  expect(user.refused).toEqual([]);
  for (const server of await user.addresses()) expect(await user.accepts(server, before)).toBe(true);
});

function issuerOf(token: string): string {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  return (JSON.parse(claims) as { readonly iss: string }).iss;
}
