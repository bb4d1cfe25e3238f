import type { SecretObject } from '../../../imports/kubernetes.ts';
import { expect, it } from 'vitest';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { audit } from '../../../reconciler/phases/audit.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { knownFacts } from '../../support/rendered-cluster.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { hostedCluster, scopeOf } from '../../support/scope.ts';

const policy = { rules: [{ level: 'Metadata' }] };
const server = 'https://one.example.org';
const one = { server, authentication: { secretName: 'one' } };
const two = { server: 'https://two.example.org' };
const three = { server: 'https://three.example.org', authentication: { secretName: 'three' } };

const specWith = (...targets: object[]) => ({
  deployment: { apiServer: { audit: { policy, ...(targets.length > 0 ? { webhook: { targets } } : {}) } } },
});
const run = (management: MemoryObjects, ...targets: object[]) =>
  audit.run(scopeOf(management, { spec: specWith(...targets) }));

function put(management: MemoryObjects, name: string, token: string): void {
  const data = { token: Buffer.from(token).toString('base64') };
  const annotations = { 'controlplane.cluster.x-k8s.io/audit-receivers': `${name}.example.org` };
  management.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'team', annotations }, data });
}

const copies = (management: MemoryObjects) => management.get<SecretObject>(Secret, 'c1-audit-tokens');
const tokens = (management: MemoryObjects) => {
  const secret = copies(management);
  return Object.keys(secret?.data ?? {}).map((key) => valueOf(secret, key));
};

/** What the phase of the API servers applies. */
async function roll(management: MemoryObjects, ...targets: object[]): Promise<void> {
  await management.apply(renderControlPlane(hostedCluster(specWith(...targets)), knownFacts, 'api-server'));
}

it('needs nothing to write records to standard output, or to a receiver without a token', async () => {
  const management = new MemoryObjects();
  expect(await run(management)).toMatchObject({ kind: 'done', facts: {}, reason: 'NotRequested' });
  expect(await run(management, two)).toMatchObject({ kind: 'done' });
  expect(management.writes).toEqual([]);
});

it('copies a token, and copies it again when it has changed, without a change of the API servers', async () => {
  const management = new MemoryObjects();
  put(management, 'one', 'first');
  expect(await run(management, one)).toEqual({ kind: 'done', facts: {} });
  expect(tokens(management)).toEqual(['first']);
  await roll(management, one);
  management.writes.length = 0;
  await run(management, one);
  expect(management.writes).toEqual([]);
  put(management, 'one', 'second');
  await run(management, one);
  await roll(management, one);
  expect(tokens(management)).toEqual(['second']);
  expect(management.writes).toEqual(['apply Secret c1-audit-tokens']);
});

it('waits for the token of a new receiver, and keeps the one of a receiver whose Secret is gone', async () => {
  const management = new MemoryObjects();
  const missing =
    'Secret team/one with the token of an audit receiver does not exist: create it with the annotation controlplane.cluster.x-k8s.io/audit-receivers: one.example.org';
  expect(await run(management, one)).toMatchObject({
    kind: 'wait',
    reason: 'AuditSecretInvalid',
    message: missing,
    afterMs: 30_000,
  });
  expect(management.writes).toEqual([]);
  put(management, 'one', 'first');
  await run(management, one);
  management.remove({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one' } });
  expect(await run(management, one)).toMatchObject({
    kind: 'degraded',
    reason: 'AuditSecretInvalid',
    message: missing,
  });
  expect(tokens(management)).toEqual(['first']);
});

it('keeps the token that an earlier release has copied from a Secret that names no receiver, and says what to add', async () => {
  const management = new MemoryObjects();
  put(management, 'one', 'first');
  await run(management, one);
  const data = { token: Buffer.from('second').toString('base64') };
  management.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'one', namespace: 'team' }, data });
  expect(await run(management, one)).toMatchObject({
    kind: 'degraded',
    reason: 'AuditSecretInvalid',
    message: expect.stringContaining('add one.example.org to its annotation') as string,
  });
  expect(tokens(management)).toEqual(['first']);
});

it('gives the fan-out a token of its own, which stays', async () => {
  const management = new MemoryObjects();
  put(management, 'one', 'first');
  await run(management, one, two);
  const own = valueOf(copies(management), 'token');
  expect(own).toMatch(/^[\w-]{43}$/);
  put(management, 'one', 'second');
  await run(management, one, two);
  expect(valueOf(copies(management), 'token')).toBe(own);
});

it('keeps what the API servers of the spec before mount, until the Deployment has changed', async () => {
  const management = new MemoryObjects();
  for (const name of ['one', 'three']) put(management, name, name);
  await run(management, one);
  await roll(management, one);
  await run(management, three);
  expect(new Set(tokens(management))).toEqual(new Set(['one', 'three']));
  await roll(management, three);
  await run(management, three);
  expect(tokens(management)).toEqual(['three']);
  await run(management);
  expect(tokens(management)).toEqual(['three']);
  await roll(management);
  await run(management);
  expect(copies(management)).toBeUndefined();
  expect(management.get(Deployment, 'c1-api-server')).toBeDefined();
});

it('does not take over a Secret of the user that has the name of its own', async () => {
  const management = new MemoryObjects();
  put(management, 'c1-audit-tokens', 'first');
  const target = { server, authentication: { secretName: 'c1-audit-tokens' } };
  expect(await run(management, target)).toMatchObject({
    kind: 'wait',
    message: 'the operator keeps its copies of tokens in Secret c1-audit-tokens: give your Secret another name',
  });
});
