import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { rotateAnnotation } from '../../../constructs/api/group.ts';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { BackgroundWork } from '../../../reconciler/tasks/background-work.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { serviceAccountKeyRotation } from '../../../reconciler/phases/service-account-key-rotation.ts';
import { createServiceAccountKey } from '../../../reconciler/pki/issue.ts';
import { type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { verifyingKeysOf } from '../../../reconciler/pki/service-account-keys.ts';
import { KeyUsers } from '../../support/key-users.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Killed, MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const hourMs = 3600_000;
const yearMs = 365 * 24 * hourMs;
const rotate = (serviceAccountKey: string) => ({ certificates: { rotation: { serviceAccountKey } } });

const secretIn = (management: MemoryObjects, name = 'c1-sa') =>
  management.get<SecretObject & StoredObject>(Secret, name);

/** Ids of the keys that are accepted, the one that signs first. */
function keysIn(management: MemoryObjects): string[] {
  return verifyingKeysOf(valueOf(secretIn(management), 'tls.crt') ?? '').map(({ id }) => id);
}

/** One operator after the other over a control plane that runs. */
class Lives {
  readonly reader: MemoryObjects;
  readonly clock = new ManualClock(now.getTime());
  readonly users: KeyUsers;
  readonly reasons = new Set<string>();
  /** All that was said to anybody. */
  readonly said: string[] = [];
  #work = this.#born();

  private constructor(management: MemoryObjects) {
    this.reader = management;
    this.users = new KeyUsers(management, this.clock);
  }

  static async begin({ spec = {}, own }: { spec?: object; own?: StoredObject } = {}): Promise<Lives> {
    const management = new MemoryObjects();
    if (own) management.put(own);
    await caCertificates.run(scopeOf(management, { spec }));
    return new Lives(management);
  }

  /** The operator dies, and another one starts. */
  restart(): void {
    this.#work = this.#born();
    this.reader.restart();
  }

  /** One pass, and then some time in which somebody restarts, and tokens are signed and used. */
  async pass(changes: ScopeChanges = {}): Promise<Outcome | undefined> {
    const outcome = await this.#run(changes).catch((error: unknown) => {
      this.said.push(inspect(error, { depth: 10, showHidden: true }));
      if (!(error instanceof Killed)) throw error;
      return undefined;
    });
    await this.clock.advance(5_000);
    this.users.live();
    return outcome;
  }

  /** Passes until this is what is reported. */
  async until(reason: string, spec: object = {}): Promise<Outcome> {
    let last: Outcome | undefined;
    for (let count = 0; count < 60; count++) {
      last = await this.pass({ spec });
      if (last && (last.kind === 'done' ? 'done' : last.reason) === reason) return last;
    }
    throw new Error(`never ${reason}: ${JSON.stringify(last)}`);
  }

  async #run(changes: ScopeChanges): Promise<Outcome> {
    const outcome = await serviceAccountKeyRotation.run(
      scopeOf(this.reader, {
        ...changes,
        status: { initialization: { controlPlaneInitialized: true } },
        hosted: this.users.client,
        work: this.#work,
        now: new Date(this.clock.now()),
      }),
    );
    if (outcome.kind === 'degraded') this.reasons.add(outcome.reason);
    this.said.push(JSON.stringify(outcome));
    return outcome;
  }

  #born() {
    return new BackgroundWork({ clock: this.clock, onChange: () => {} }).of('any');
  }
}

describe('the key of service account tokens', () => {
  it('is replaced so that every API server accepts every token that has not expired', async () => {
    const lives = await Lives.begin();
    const [old] = keysIn(lives.reader);
    await lives.until('WaitingForTokens', rotate('first'));
    const [signer, ...others] = keysIn(lives.reader);
    expect(signer).not.toBe(old);
    expect(others).toEqual([old]);
    expect([...lives.reasons]).toEqual(['DistributingTrust', 'ChangingSigner', 'WaitingForTokens']);
    expect(secretIn(lives.reader, 'c1-sa-next')).toBeUndefined();

    await lives.clock.advance(yearMs - hourMs);
    const waiting = await lives.pass({ spec: rotate('first') });
    expect(waiting).toMatchObject({
      reason: 'WaitingForTokens',
      message: expect.stringContaining('are accepted until'),
    });
    await lives.clock.advance(2 * hourMs);
    await lives.until('done', rotate('first'));
    expect(keysIn(lives.reader)).toEqual([signer]);
    expect(lives.users.accepted).toEqual([[signer], [signer]]);

    const { writes } = lives.reader;
    const written = writes.length;
    await lives.until('done', rotate('first'));
    expect(writes.length).toBe(written);
  });

  it('comes through it when the operator dies at every single write', async () => {
    const lives = await Lives.begin();
    const [old] = keysIn(lives.reader);
    for (let life = 0; life < 24; life++) {
      lives.restart();
      lives.reader.dieAfter(life % 3);
      for (let passes = 0; passes < 4; passes++) await lives.pass({ spec: rotate('first') });
    }
    lives.restart();
    await lives.until('WaitingForTokens', rotate('first'));
    await lives.clock.advance(yearMs + hourMs);
    for (let life = 0; life < 12; life++) {
      lives.restart();
      lives.reader.dieAfter(life % 3);
      for (let passes = 0; passes < 4; passes++) await lives.pass({ spec: rotate('first') });
    }
    lives.restart();
    await lives.until('done', rotate('first'));
    expect(keysIn(lives.reader)).toHaveLength(1);
    expect(keysIn(lives.reader)).not.toContain(old);
  });

  it('is asked for by an annotation too, and one that is there from the beginning asks for nothing', async () => {
    const lives = await Lives.begin({ spec: rotate('first') });
    expect(await lives.pass({ spec: rotate('first') })).toMatchObject({ kind: 'done' });
    const annotated = { [rotateAnnotation('service-account-key')]: 'now' };
    const outcome = await lives.pass({ spec: rotate('first'), annotations: annotated });
    expect(outcome).toMatchObject({ reason: 'DistributingTrust' });
  });

  it('stays when the request is taken back before the new one signs', async () => {
    const lives = await Lives.begin({ spec: rotate('first') });
    const before = keysIn(lives.reader);
    for (let passes = 0; passes < 2; passes++) await lives.pass({ spec: rotate('second') });
    expect(keysIn(lives.reader)).toHaveLength(2);
    await lives.until('WithdrawingTrust', rotate('first'));
    await lives.until('done', rotate('first'));
    expect(keysIn(lives.reader)).toEqual(before);
    expect(secretIn(lives.reader, 'c1-sa-next')).toBeUndefined();
  });

  it('is not changed again when the request is taken back after that', async () => {
    const lives = await Lives.begin({ spec: rotate('first') });
    await lives.until('ChangingSigner', rotate('second'));
    const keys = keysIn(lives.reader);
    await lives.until('WaitingForTokens', rotate('first'));
    await lives.until('WaitingForTokens', rotate('first'));
    expect(keysIn(lives.reader)).toEqual(keys);
  });

  it('is replaced a second time while tokens of the first are accepted still, and each goes in its time', async () => {
    const lives = await Lives.begin();
    const [first] = keysIn(lives.reader);
    await lives.until('WaitingForTokens', rotate('first'));
    const [second] = keysIn(lives.reader);
    await lives.clock.advance(yearMs / 2);
    await lives.until('DistributingTrust', rotate('second'));
    await lives.until('WaitingForTokens', rotate('second'));
    const [third, ...others] = keysIn(lives.reader);
    expect(others).toEqual([second, first]);
    await lives.clock.advance(yearMs / 2 + hourMs);
    await lives.until('RetiringTrust', rotate('second'));
    await lives.until('WaitingForTokens', rotate('second'));
    expect(keysIn(lives.reader)).toEqual([third, second]);
    await lives.clock.advance(yearMs / 2 + hourMs);
    await lives.until('done', rotate('second'));
    expect(keysIn(lives.reader)).toEqual([third]);
  });

  it.each(['192.0.2.2', 'controller-manager'])(
    'has its tokens counted down only when nobody signs with it any more, not even %s',
    async (late) => {
      const lives = await Lives.begin();
      await lives.until('ChangingSigner', rotate('first'));
      lives.users.hold(late, true);
      for (let passes = 0; passes < 12; passes++) {
        expect(await lives.pass({ spec: rotate('first') })).toMatchObject({ reason: 'ChangingSigner' });
      }
      lives.users.hold(late, false);
      await lives.until('WaitingForTokens', rotate('first'));
    },
  );

  it('is not changed while an API server cannot be asked, and the condition says why', async () => {
    const lives = await Lives.begin();
    lives.users.silence('192.0.2.2');
    for (let passes = 0; passes < 12; passes++) await lives.pass({ spec: rotate('first') });
    const outcome = await lives.pass({ spec: rotate('first') });
    const message = '1 of 2 API servers accept the new key; one of them does not answer: 192.0.2.2 is silent';
    expect(outcome).toMatchObject({ reason: 'DistributingTrust', message });
  });

  it('is answered twice when somebody asks for another one before the first has signed', async () => {
    const lives = await Lives.begin();
    await lives.pass({ spec: rotate('first') });
    for (let passes = 0; passes < 40; passes++) await lives.pass({ spec: rotate('second') });
    await lives.until('WaitingForTokens', rotate('second'));
    expect(keysIn(lives.reader)).toHaveLength(3);
  });

  it('stays accepted while a Secret keeps a token of it for ever, and the condition names the Secret', async () => {
    const lives = await Lives.begin();
    const [old = ''] = keysIn(lives.reader);
    lives.users.keepToken('team/legacy');
    await lives.until('WaitingForTokens', rotate('first'));
    await lives.clock.advance(yearMs + hourMs);
    for (let passes = 0; passes < 3; passes++) await lives.pass({ spec: rotate('first') });
    const outcome = await lives.pass({ spec: rotate('first') });
    expect(outcome).toMatchObject({
      reason: 'WaitingForTokens',
      message: expect.stringMatching(
        /1 Secret contains a token .*remove the field token from the data of team\/legacy/,
      ),
    });
    expect(keysIn(lives.reader)).toContain(old);

    lives.users.renewKeptTokens();
    await lives.clock.advance(hourMs);
    await lives.until('done', rotate('first'));
    expect(keysIn(lives.reader)).not.toContain(old);
  });

  it('outlives tokens that were signed while they were allowed to live longer', async () => {
    const args = (hours: number) => ({
      deployment: { apiServer: { args: { 'service-account-max-token-expiration': `${hours}h` } } },
    });
    const lives = await Lives.begin({ spec: args(20_000) });
    lives.users.allowHours(20_000);
    await lives.until('done', args(20_000));
    lives.users.allowHours(8_760);
    await lives.until('done', args(8_760));
    const spec = { ...args(8_760), ...rotate('first') };
    await lives.until('WaitingForTokens', spec);
    await lives.clock.advance(20_000 * hourMs - 2 * hourMs);
    const waiting = await lives.pass({ spec });
    expect(waiting).toMatchObject({ message: expect.stringContaining('are accepted until') });
    await lives.clock.advance(3 * hourMs);
    await lives.until('done', spec);
    expect(keysIn(lives.reader)).toHaveLength(1);
  });

  it('is told to nobody', async () => {
    const lives = await Lives.begin();
    const secrets = new Set<string>();
    for (const request of ['first', 'second']) {
      for (let passes = 0; passes < 20; passes++) {
        for (const name of ['c1-sa', 'c1-sa-next']) {
          const key = valueOf(secretIn(lives.reader, name), 'tls.key');
          if (key) secrets.add(key.split('\n')[1] ?? '');
        }
        await lives.pass({ spec: rotate(request) });
      }
    }
    expect(secrets.size).toBeGreaterThanOrEqual(3);
    expect(lives.said.filter((text) => [...secrets].some((secret) => text.includes(secret)))).toEqual([]);
  });
});

describe("a user's own key", () => {
  async function usersSecret(name: string): Promise<StoredObject> {
    const { certificate, key } = createServiceAccountKey();
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key) };
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', data };
  }

  it('is replaced by another one of the user, and by nothing else', async () => {
    const lives = await Lives.begin({ own: await usersSecret('c1-sa') });
    expect(await lives.pass()).toMatchObject({ kind: 'done' });
    const outcome = await lives.pass({ spec: rotate('first') });
    expect(outcome).toMatchObject({
      reason: 'ServiceAccountKeyInvalid',
      message: expect.stringContaining('create Secret c1-sa-next with another public key'),
    });
    expect(keysIn(lives.reader)).toHaveLength(1);

    const next = lives.reader.put(await usersSecret('c1-sa-next'));
    await lives.until('WaitingForTokens', rotate('first'));
    await lives.clock.advance(yearMs + hourMs);
    await lives.until('done', rotate('first'));
    const [signer] = verifyingKeysOf(valueOf(next, 'tls.crt') ?? '');
    expect(keysIn(lives.reader)).toEqual([signer?.id]);
    expect(lives.reader.names).toContain('Secret c1-sa-next');
    expect(secretIn(lives.reader)?.metadata.ownerReferences).toBeUndefined();
  });

  it('that cannot be read is said to be so, and no harm is done', async () => {
    const lives = await Lives.begin({ own: await usersSecret('c1-sa') });
    lives.reader.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c1-sa-next' }, data: {} });
    const outcome = await lives.pass({ spec: rotate('first') });
    expect(outcome).toMatchObject({ reason: 'ServiceAccountKeyInvalid', requeueAt: expect.any(Date) });
    expect(keysIn(lives.reader)).toHaveLength(1);
  });
});

it('a control plane without API servers yet has nothing to rotate', async () => {
  const management = new MemoryObjects();
  await caCertificates.run(scopeOf(management));
  const { apiVersion, kind } = Deployment;
  management.put({ apiVersion, kind, metadata: { name: 'c1-api-server', labels: objectLabels('c1', 'api-server') } });
  const written = management.writes.length;
  expect(await serviceAccountKeyRotation.run(scopeOf(management))).toMatchObject({ kind: 'done' });
  expect(management.writes).toHaveLength(written);
});
