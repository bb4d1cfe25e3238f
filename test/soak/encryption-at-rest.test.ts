import type { SecretObject } from '../../imports/kubernetes.ts';
import { afterAll, describe, expect, test } from 'vitest';
import { Secret } from '../../constructs/api/resources.ts';
import { nameOf } from '../../reconciler/encryption-at-rest/configuration.ts';
import { EncryptedSecrets, keyStepMs } from '../support/encrypted-secrets.ts';
import { recordFault } from '../support/fault-table.ts';
import { operatedNamespace } from '../support/operated-namespace.ts';
import { storedSecrets, storedUnder } from '../support/stored-secrets.ts';
import { loseSecret } from '../support/lost-secret.ts';
import { inEachState, until } from '../support/until.ts';

const fieldManager = 'test';
const bench = operatedNamespace('encryption');
const secrets = new EncryptedSecrets(bench);
afterAll(() => secrets.close());

// In parallel, because an API server reloads its keys once a minute: these tests mostly wait for that.
describe.concurrent('Secrets in etcd', () => {
  test('are encrypted from the start; a rotation replaces the key while operators die, and every Secret stays readable', async () => {
    const reader = await secrets.open('c1');
    await reader.write(300);
    const [first] = (await secrets.keysOf('c1')).providers.map(nameOf);
    const initial = await storedSecrets(bench, 'c1');
    expect(storedUnder(initial)).toEqual({ [first!]: initial.size });
    expect(initial.size).toBeGreaterThanOrEqual(300);
    const texts = [...initial].map(([name, value]) => [name.split('/')[1]!, value.toString('latin1')] as const);
    expect(texts.filter(([name, text]) => text.includes(name))).toEqual([]);
    expect((await bench.get('c1')).status?.encryptionAtRest).toEqual({ provider: 'secretbox' });

    const before = { servers: await secrets.apiServers('c1'), keys: await secrets.keysOf('c1'), reads: reader.reads };
    const begun = performance.now();
    await bench.patch('c1', { spec: { encryptionAtRest: { rotation: 'first' } } });
    const reasons = new Set<string>();
    const roles = (name: string) => (name === first ? 'old' : 'new');
    // One operator dies in every configuration. The rewrite may be over before it is observed: `rewrite.test.ts` stops it in
    // the middle.
    const killedAt = await inEachState(
      'the rotation to be over',
      async () => {
        const { status } = await bench.get('c1');
        const condition = status?.conditions?.find(({ type }) => type === 'EncryptionAtRestReady');
        if (condition?.status === 'True' && status?.encryptionAtRest?.rotation === 'first') return undefined;
        if (condition) reasons.add(condition.reason);
        return (await secrets.keysOf('c1')).providers.map((key) => roles(nameOf(key))).join(', ');
      },
      async () => {
        await reader.write(20);
        await bench.restartOperator();
      },
      keyStepMs,
    );

    const after = await secrets.keysOf('c1');
    expect(after.providers).toHaveLength(1);
    const [key] = after.providers.map(nameOf);
    expect(before.keys.providers.map(nameOf)).not.toContain(key);
    expect(after.retired.map(nameOf)).toEqual(before.keys.providers.map(nameOf));
    const rewritten = await storedSecrets(bench, 'c1');
    expect(storedUnder(rewritten)).toEqual({ [key!]: rewritten.size });
    expect([...reasons]).toContain('DistributingKey');
    expect([...reasons]).toContain('RetiringKey');
    // Each of these lasts until two API servers have loaded it. The first one may be over before the first observation.
    expect(killedAt).toEqual(expect.arrayContaining(['old, new', 'new, old', 'new']));

    await until('more to be read without the old key', () => reader.reads > before.reads + 500, 120_000);
    expect(reader.failures).toEqual([]);
    expect(await secrets.apiServers('c1')).toEqual(before.servers);
    await recordFault({
      fault: 'the operator stopped in every configuration of a rotation of the key of Secrets, with two API servers',
      observed: `the operator is stopped ${killedAt.length} times and each time another one continues; no API server restarts; ${reader.reads - before.reads} reads of Secrets of every age, ${reader.unanswered} without an answer in 5 s and none with an error; ${rewritten.size} Secrets stored under the new key in ${Math.round((performance.now() - begun) / 1000)} s`,
      recoverySeconds: undefined,
      dataLost: 'none',
    });
  });

  test('can be stored unencrypted, and encrypted with a new key again; without the keys the control plane waits until they are back', async () => {
    // one API server: the rotation above uses several
    const reader = await secrets.open('c3', { replicas: 1 });
    await reader.write(100);
    const servers = await secrets.apiServers('c3');
    const total = (await storedSecrets(bench, 'c3')).size;
    await secrets.change('c3', { provider: 'None' });
    expect(await secrets.stored('c3')).toEqual({ clear: total });
    expect((await secrets.keysOf('c3')).providers).toEqual(['identity']);
    expect((await bench.get('c3')).status?.encryptionAtRest).toMatchObject({ provider: 'None' });

    await secrets.change('c3', { provider: 'secretbox' });
    const [key] = (await secrets.keysOf('c3')).providers.map(nameOf);
    expect(await secrets.stored('c3')).toEqual({ [key!]: total });
    expect(reader.failures).toEqual([]);
    expect(await secrets.apiServers('c3')).toEqual(servers);

    const lost = await bench.client.get<SecretObject>(Secret, secrets.secretName('c3'));
    const begun = performance.now();
    await loseSecret(bench, 'c3', secrets.secretName('c3').name);
    const { message } = await bench.untilCondition('c3', 'EncryptionAtRestReady', { reason: 'EncryptionKeysMissing' });
    expect(message).toContain('restore it from a backup');
    const reads = reader.reads;
    await until('Secrets to be read all the same', () => reader.reads > reads + 100, 60_000);
    expect(await bench.client.find(Secret, secrets.secretName('c3'))).toBeUndefined();

    const { data, type } = lost;
    const { annotations = {} } = lost.metadata;
    const restored = { apiVersion: Secret.apiVersion, kind: Secret.kind, type, data };
    await bench.client.create(
      { ...restored, metadata: { ...secrets.secretName('c3'), annotations } },
      { fieldManager },
    );
    await bench.untilReady('c3');
    expect(reader.failures).toEqual([]);
    await recordFault({
      fault: 'loss by force of the Secret with the keys of Secrets in etcd',
      observed: 'EncryptionAtRestReady says EncryptionKeysMissing and no new key is made; API servers keep serving',
      recoverySeconds: (performance.now() - begun) / 1000,
      dataLost: 'none',
    });
  });

  test('of a control plane without encryption are encrypted on request, with one restart of its API servers', async () => {
    const reader = await secrets.open('c2', { encryptionAtRest: { provider: 'None' } });
    expect(await bench.client.find(Secret, secrets.secretName('c2'))).toBeUndefined();
    await reader.write(100);
    const { clear = 0, ...others } = await secrets.stored('c2');
    expect(others).toEqual({});
    expect(clear).toBeGreaterThanOrEqual(100);

    const servers = await secrets.apiServers('c2');
    await secrets.change('c2', { provider: 'secretbox' });
    await bench.untilReady('c2');
    const [key] = (await secrets.keysOf('c2')).providers.map(nameOf);
    expect(await secrets.stored('c2')).toEqual({ [key!]: clear });
    expect(await secrets.apiServers('c2')).toHaveLength(2);
    expect((await secrets.apiServers('c2')).filter((server) => servers.includes(server))).toEqual([]);
    expect(reader.failures).toEqual([]);
  });
});
