import type { SecretObject } from '../../../imports/kubernetes.ts';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { rotateAnnotation } from '../../../constructs/api/group.ts';
import { Deployment, Secret } from '../../../constructs/api/resources.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { BackgroundWork } from '../../../reconciler/engine/tasks/background-work.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { caCertificates } from '../../../reconciler/phases/ca-certificates.ts';
import { serviceAccountKeyRotation } from '../../../reconciler/phases/service-account-key-rotation.ts';
import { createServiceAccountKey } from '../../../reconciler/pki/issue.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
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

/** Ids of the accepted keys, the signing one first. */
function keysIn(management: MemoryObjects): string[] {
  return verifyingKeysOf(valueOf(secretIn(management), 'tls.crt') ?? '').map(({ id }) => id);
}

/** A running control plane, and operators that replace each other. */
class Operators {
  readonly reader: MemoryObjects;
  readonly clock = new ManualClock(now.getTime());
  readonly users: KeyUsers;
  readonly reasons = new Set<string>();
  /** Everything the operators report. */
  readonly reports: string[] = [];
  #work = this.#born();

  private constructor(management: MemoryObjects) {
    this.reader = management;
    this.users = new KeyUsers(management, this.clock);
  }

  static async begin({ spec = {}, own }: { spec?: object; own?: StoredObject } = {}): Promise<Operators> {
    const management = new MemoryObjects();
    if (own) management.put(own);
    await caCertificates.run(scopeOf(management, { spec }));
    return new Operators(management);
  }

  /** The operator dies, and another one starts. */
  restart(): void {
    this.#work = this.#born();
    this.reader.restart();
  }

  /** One reconcile, and then some time in which a process restarts, and tokens are signed and used. */
  async reconcile(changes: ScopeChanges = {}): Promise<Outcome | undefined> {
    const outcome = await this.#run(changes).catch((error: unknown) => {
      this.reports.push(inspect(error, { depth: 10, showHidden: true }));
      if (!(error instanceof Killed)) throw error;
      return undefined;
    });
    await this.clock.advance(5_000);
    this.users.live();
    return outcome;
  }

  /** Reconciles until this reason is reported. */
  async until(reason: string, spec: object = {}): Promise<Outcome> {
    let last: Outcome | undefined;
    for (let count = 0; count < 60; count++) {
      last = await this.reconcile({ spec });
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
        clock: this.clock,
      }),
    );
    if (outcome.kind === 'degraded') this.reasons.add(outcome.reason);
    this.reports.push(JSON.stringify(outcome));
    return outcome;
  }

  #born() {
    return new BackgroundWork({ clock: this.clock, onChange: () => {} }).of('any');
  }
}

describe('the service account key', () => {
  it('is rotated while every API server accepts every token that has not expired', async () => {
    const operators = await Operators.begin();
    const [old] = keysIn(operators.reader);
    await operators.until('WaitingForTokens', rotate('first'));
    const [signer, ...others] = keysIn(operators.reader);
    expect(signer).not.toBe(old);
    expect(others).toEqual([old]);
    expect([...operators.reasons]).toEqual(['DistributingTrust', 'ChangingSigner', 'WaitingForTokens']);
    expect(secretIn(operators.reader, 'c1-sa-next')).toBeUndefined();

    await operators.clock.advance(yearMs - hourMs);
    const waiting = await operators.reconcile({ spec: rotate('first') });
    expect(waiting).toMatchObject({
      reason: 'WaitingForTokens',
      message: expect.stringContaining('are accepted until'),
    });
    await operators.clock.advance(2 * hourMs);
    await operators.until('done', rotate('first'));
    expect(keysIn(operators.reader)).toEqual([signer]);
    expect(operators.users.accepted).toEqual([[signer], [signer]]);

    const { writes } = operators.reader;
    const written = writes.length;
    await operators.until('done', rotate('first'));
    expect(writes.length).toBe(written);
  });

  it('is rotated when the operator dies at every single write', async () => {
    const operators = await Operators.begin();
    const [old] = keysIn(operators.reader);
    for (let run = 0; run < 24; run++) {
      operators.restart();
      operators.reader.dieAfter(run % 3);
      for (let count = 0; count < 4; count++) await operators.reconcile({ spec: rotate('first') });
    }
    operators.restart();
    await operators.until('WaitingForTokens', rotate('first'));
    await operators.clock.advance(yearMs + hourMs);
    for (let run = 0; run < 12; run++) {
      operators.restart();
      operators.reader.dieAfter(run % 3);
      for (let count = 0; count < 4; count++) await operators.reconcile({ spec: rotate('first') });
    }
    operators.restart();
    await operators.until('done', rotate('first'));
    expect(keysIn(operators.reader)).toHaveLength(1);
    expect(keysIn(operators.reader)).not.toContain(old);
  });

  it('is also rotated by an annotation, but not by a request that exists from the start', async () => {
    const operators = await Operators.begin({ spec: rotate('first') });
    expect(await operators.reconcile({ spec: rotate('first') })).toMatchObject({ kind: 'done' });
    const annotated = { [rotateAnnotation('service-account-key')]: 'now' };
    const outcome = await operators.reconcile({ spec: rotate('first'), annotations: annotated });
    expect(outcome).toMatchObject({ reason: 'DistributingTrust' });
  });

  it('stays when the request is reverted before the new key signs', async () => {
    const operators = await Operators.begin({ spec: rotate('first') });
    const before = keysIn(operators.reader);
    for (let count = 0; count < 2; count++) await operators.reconcile({ spec: rotate('second') });
    expect(keysIn(operators.reader)).toHaveLength(2);
    await operators.until('WithdrawingTrust', rotate('first'));
    await operators.until('done', rotate('first'));
    expect(keysIn(operators.reader)).toEqual(before);
    expect(secretIn(operators.reader, 'c1-sa-next')).toBeUndefined();
  });

  it('is not changed again when the request is reverted after that', async () => {
    const operators = await Operators.begin({ spec: rotate('first') });
    await operators.until('ChangingSigner', rotate('second'));
    const keys = keysIn(operators.reader);
    await operators.until('WaitingForTokens', rotate('first'));
    await operators.until('WaitingForTokens', rotate('first'));
    expect(keysIn(operators.reader)).toEqual(keys);
  });

  it('is rotated a second time while API servers still accept tokens of the first, and each key is removed in its time', async () => {
    const operators = await Operators.begin();
    const [first] = keysIn(operators.reader);
    await operators.until('WaitingForTokens', rotate('first'));
    const [second] = keysIn(operators.reader);
    await operators.clock.advance(yearMs / 2);
    await operators.until('DistributingTrust', rotate('second'));
    await operators.until('WaitingForTokens', rotate('second'));
    const [third, ...others] = keysIn(operators.reader);
    expect(others).toEqual([second, first]);
    await operators.clock.advance(yearMs / 2 + hourMs);
    await operators.until('RetiringTrust', rotate('second'));
    await operators.until('WaitingForTokens', rotate('second'));
    expect(keysIn(operators.reader)).toEqual([third, second]);
    await operators.clock.advance(yearMs / 2 + hourMs);
    await operators.until('done', rotate('second'));
    expect(keysIn(operators.reader)).toEqual([third]);
  });

  it.each(['192.0.2.2', 'controller-manager'])(
    'waits for its tokens only when no process signs with it any more, not even %s',
    async (late) => {
      const operators = await Operators.begin();
      await operators.until('ChangingSigner', rotate('first'));
      operators.users.hold(late, true);
      for (let count = 0; count < 12; count++) {
        expect(await operators.reconcile({ spec: rotate('first') })).toMatchObject({ reason: 'ChangingSigner' });
      }
      operators.users.hold(late, false);
      await operators.until('WaitingForTokens', rotate('first'));
    },
  );

  it('is not rotated while an API server does not answer, and the condition says why', async () => {
    const operators = await Operators.begin();
    operators.users.silence('192.0.2.2');
    for (let count = 0; count < 12; count++) await operators.reconcile({ spec: rotate('first') });
    const outcome = await operators.reconcile({ spec: rotate('first') });
    const message = 'waiting for api-server-192.0.2.2, which does not answer (192.0.2.2 is silent)';
    expect(outcome).toMatchObject({ reason: 'DistributingTrust', message });
  });

  it('is rotated twice when another rotation is requested before the first new key has signed', async () => {
    const operators = await Operators.begin();
    await operators.reconcile({ spec: rotate('first') });
    for (let count = 0; count < 40; count++) await operators.reconcile({ spec: rotate('second') });
    await operators.until('WaitingForTokens', rotate('second'));
    expect(keysIn(operators.reader)).toHaveLength(3);
  });

  it('stays accepted while a Secret holds a token of it without expiry, and the condition names the Secret', async () => {
    const operators = await Operators.begin();
    const [old = ''] = keysIn(operators.reader);
    operators.users.keepToken('team/legacy');
    await operators.until('WaitingForTokens', rotate('first'));
    await operators.clock.advance(yearMs + hourMs);
    for (let count = 0; count < 3; count++) await operators.reconcile({ spec: rotate('first') });
    const outcome = await operators.reconcile({ spec: rotate('first') });
    expect(outcome).toMatchObject({
      reason: 'WaitingForTokens',
      message: expect.stringMatching(
        /1 Secret contains a token .*remove the field token from the data of team\/legacy/,
      ),
    });
    expect(keysIn(operators.reader)).toContain(old);

    operators.users.renewKeptTokens();
    await operators.clock.advance(hourMs);
    await operators.until('done', rotate('first'));
    expect(keysIn(operators.reader)).not.toContain(old);
  });

  it('outlives tokens that were signed while a longer lifetime was allowed', async () => {
    const args = (hours: number) => ({
      deployment: { apiServer: { args: { 'service-account-max-token-expiration': `${hours}h` } } },
    });
    const operators = await Operators.begin({ spec: args(20_000) });
    operators.users.allowHours(20_000);
    await operators.until('done', args(20_000));
    operators.users.allowHours(8_760);
    await operators.until('done', args(8_760));
    const spec = { ...args(8_760), ...rotate('first') };
    await operators.until('WaitingForTokens', spec);
    await operators.clock.advance(20_000 * hourMs - 2 * hourMs);
    const waiting = await operators.reconcile({ spec });
    expect(waiting).toMatchObject({ message: expect.stringContaining('are accepted until') });
    await operators.clock.advance(3 * hourMs);
    await operators.until('done', spec);
    expect(keysIn(operators.reader)).toHaveLength(1);
  });

  it('is never reported', async () => {
    const operators = await Operators.begin();
    const secrets = new Set<string>();
    for (const request of ['first', 'second']) {
      for (let count = 0; count < 20; count++) {
        for (const name of ['c1-sa', 'c1-sa-next']) {
          const key = valueOf(secretIn(operators.reader, name), 'tls.key');
          if (key) secrets.add(key.split('\n')[1] ?? '');
        }
        await operators.reconcile({ spec: rotate(request) });
      }
    }
    expect(secrets.size).toBeGreaterThanOrEqual(3);
    expect(operators.reports.filter((text) => [...secrets].some((secret) => text.includes(secret)))).toEqual([]);
  });
});

describe("a user's own key", () => {
  async function usersSecret(name: string): Promise<StoredObject> {
    const { certificate, key } = createServiceAccountKey();
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const data = { 'tls.crt': encoded(certificate), 'tls.key': encoded(key) };
    return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, type: 'Opaque', data };
  }

  it('is replaced only by another one of the user', async () => {
    const operators = await Operators.begin({ own: await usersSecret('c1-sa') });
    expect(await operators.reconcile()).toMatchObject({ kind: 'done' });
    const outcome = await operators.reconcile({ spec: rotate('first') });
    expect(outcome).toMatchObject({
      reason: 'ServiceAccountKeyInvalid',
      message: expect.stringContaining('create Secret c1-sa-next with another public key'),
    });
    expect(keysIn(operators.reader)).toHaveLength(1);

    const next = operators.reader.put(await usersSecret('c1-sa-next'));
    await operators.until('WaitingForTokens', rotate('first'));
    await operators.clock.advance(yearMs + hourMs);
    await operators.until('done', rotate('first'));
    const [signer] = verifyingKeysOf(valueOf(next, 'tls.crt') ?? '');
    expect(keysIn(operators.reader)).toEqual([signer?.id]);
    expect(operators.reader.names).toContain('Secret c1-sa-next');
    expect(secretIn(operators.reader)?.metadata.ownerReferences).toBeUndefined();
  });

  it('that cannot be parsed is reported, and nothing is changed', async () => {
    const operators = await Operators.begin({ own: await usersSecret('c1-sa') });
    operators.reader.put({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c1-sa-next' }, data: {} });
    const outcome = await operators.reconcile({ spec: rotate('first') });
    expect(outcome).toMatchObject({ reason: 'ServiceAccountKeyInvalid', requeueAt: expect.any(Date) });
    expect(keysIn(operators.reader)).toHaveLength(1);
  });
});

it('a control plane without API servers has nothing to rotate', async () => {
  const management = new MemoryObjects();
  await caCertificates.run(scopeOf(management));
  const { apiVersion, kind } = Deployment;
  management.put({ apiVersion, kind, metadata: { name: 'c1-api-server', labels: objectLabels('c1', 'api-server') } });
  const written = management.writes.length;
  expect(await serviceAccountKeyRotation.run(scopeOf(management))).toMatchObject({ kind: 'done' });
  expect(management.writes).toHaveLength(written);
});
