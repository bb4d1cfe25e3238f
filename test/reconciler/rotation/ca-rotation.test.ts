import { beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../constructs/api/resources.ts';
import { BackgroundWork } from '../../../reconciler/background-work.ts';
import type { PhaseResult } from '../../../reconciler/graph.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { isSignedBy } from '../../../reconciler/pki/certificate.ts';
import { createAuthority, validFor } from '../../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { secretProps } from '../../../reconciler/pki/secret-props.ts';
import { pairSecret, type SecretObject, valueOf } from '../../../reconciler/pki/secret.ts';
import { bringUp, pass } from '../../support/bring-up.ts';
import { Killed, MemoryWorld, type StoredObject } from '../../support/memory-world.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const yearMs = 365 * 24 * 3600_000;
const initialized = { status: { initialization: { controlPlaneInitialized: true } } };

const complete = new MemoryWorld();
beforeAll(async () => {
  await bringUp(complete);
  // A machine that does a lot else takes a while.
}, 60_000);

type Authority = 'clusterCA' | 'etcdCA' | 'proxyCA';
const secrets = { clusterCA: 'c1-ca', etcdCA: 'c1-etcd', proxyCA: 'c1-proxy' } as const;
const ask = (...fields: Authority[]) => ({
  spec: { certificates: { rotation: Object.fromEntries(fields.map((field) => [field, 'please'])) } },
});

const trusted = (world: MemoryWorld, secret: string) =>
  splitCertificates(valueOf(world.get<SecretObject>(Secret, secret), 'tls.crt') ?? '');
const reasonOf = (results: readonly PhaseResult[]) =>
  results.find(({ phase }) => phase.condition === 'CARotationReady')?.verdict;

/** Passes over one world, with what slow work remembers between them and a clock that goes on. */
class Life {
  readonly #work = new BackgroundWork({ clock: systemClock, onChange: () => {} }).of('c1');
  readonly reasons: string[] = [];
  readonly world: MemoryWorld;
  readonly #changes: ScopeChanges;
  time: number;

  constructor(world: MemoryWorld, changes: ScopeChanges, time = now.getTime()) {
    this.world = world;
    this.#changes = changes;
    this.time = time;
  }

  async pass(): Promise<PhaseResult[]> {
    this.time += 60_000;
    const results = await pass(this.world, {
      ...initialized,
      ...this.#changes,
      work: this.#work,
      now: new Date(this.time),
    });
    // What was begun beside the pass has ended by the next one.
    await new Promise((resolve) => setImmediate(resolve));
    const verdict = reasonOf(results);
    if (verdict && verdict.status !== 'True' && this.reasons.at(-1) !== verdict.reason)
      this.reasons.push(verdict.reason);
    return results;
  }

  /** Tells whether it was settled before the process died. */
  async untilDeadOrSettled(): Promise<boolean> {
    for (let count = 0; count < 20; count++) {
      const before = this.world.writes.length;
      const results = await this.pass();
      if (results.some(({ error }) => error instanceof Killed)) return false;
      if (reasonOf(results)?.status === 'True' && this.world.writes.length === before) return true;
    }
    throw new Error(JSON.stringify(reasonOf(await this.pass())));
  }

  async untilSettled(limit = 60): Promise<void> {
    for (let count = 0; count < limit; count++) {
      const before = this.world.writes.length;
      const verdict = reasonOf(await this.pass());
      if (verdict?.status === 'True' && this.world.writes.length === before) return;
    }
    throw new Error(JSON.stringify(reasonOf(await this.pass())));
  }
}

async function untilReason(life: Life, reason: string): Promise<PhaseResult[]> {
  for (let count = 0; count < 60; count++) {
    const results = await life.pass();
    if (reasonOf(results)?.reason === reason) return results;
  }
  throw new Error(`${reason} never came`);
}

describe('a rotation', { timeout: 120_000 }, () => {
  it.each<[Authority, string[]]>([
    ['clusterCA', ['c1-apiserver', 'c1-konnectivity-server', 'c1-controller-manager']],
    ['etcdCA', ['c1-etcd-server', 'c1-etcd-peer', 'c1-apiserver-etcd-client', 'c1-etcd-controller']],
    ['proxyCA', ['c1-front-proxy-client']],
  ])('of the %s distributes trust, signs and retires, and then nothing is written any more', async (field, leaves) => {
    const world = complete.copy();
    const [old = ''] = trusted(world, secrets[field]);
    const life = new Life(world, ask(field));
    await life.untilSettled();
    expect(life.reasons).toEqual(['DistributingTrust', 'ReissuingCertificates', 'RetiringTrust']);
    const now = trusted(world, secrets[field]);
    expect(now).toHaveLength(1);
    expect(now).not.toContain(old);
    for (const leaf of leaves)
      expect(isSignedBy(valueOf(world.get(Secret, leaf), 'tls.crt') ?? '', now[0] ?? '')).toBe(true);
    expect(world.get(Secret, `${secrets[field]}-next`)).toBeUndefined();
    const writes = world.writes.length;
    await life.pass();
    expect(world.writes.slice(writes)).toEqual([]);
  });

  it('ends only when pods that were there before had time to read that the old one is trusted no more', async () => {
    const life = new Life(complete.copy(), ask('proxyCA'));
    await untilReason(life, 'RetiringTrust');
    const retired = life.time;
    await life.pass();
    expect(reasonOf(await life.pass())?.message).toContain('to read again whom it trusts');
    await life.untilSettled();
    expect(life.time - retired).toBeGreaterThanOrEqual(3 * 60_000);
  });

  it('is taken back as long as the new one has not signed, and can be asked for again', async () => {
    const world = complete.copy();
    const before = trusted(world, 'c1-etcd');
    const life = new Life(world, ask('etcdCA'));
    while (trusted(world, 'c1-etcd').length < 2) await life.pass();
    const back = new Life(world, {}, life.time);
    await back.untilSettled();
    expect(back.reasons).toEqual(['WithdrawingTrust']);
    expect(trusted(world, 'c1-etcd')).toEqual(before);
    expect(world.get(Secret, 'c1-etcd-next')).toBeUndefined();
    await new Life(world, ask('etcdCA'), back.time).untilSettled();
    expect(trusted(world, 'c1-etcd')).not.toEqual(before);
  });

  it('comes by itself when half of the life of an authority of ours is over', async () => {
    const world = complete.copy();
    const before = Object.values(secrets).map((secret) => trusted(world, secret));
    const life = new Life(world, {}, now.getTime() + 6.1 * yearMs);
    await life.untilSettled();
    const after = Object.values(secrets).map((secret) => trusted(world, secret));
    for (const [index, each] of after.entries()) expect(before[index]).not.toContain(each[0]);
  });

  it("of a user's own authority waits for theirs, and never comes by itself", async () => {
    const world = complete.copy();
    const own = world.get<SecretObject & StoredObject>(Secret, 'c1-proxy');
    if (!own) throw new Error('there is no authority');
    world.put({ ...own, metadata: { ...own.metadata, ownerReferences: [] } });
    const before = trusted(world, 'c1-proxy');

    const late = new Life(world, {}, now.getTime() + 6.5 * yearMs);
    const told = reasonOf(await untilReason(late, 'CAExpiring'));
    expect(told?.message).toContain('c1-proxy-next');
    expect(trusted(world, 'c1-proxy')).toEqual(before);

    const life = new Life(world, ask('proxyCA'));
    expect(reasonOf(await untilReason(life, 'CACertificateInvalid'))?.message).toContain('Secret c1-proxy-next');
    const next = await createAuthority({ commonName: 'mine' }, validFor(10 * yearMs, now));
    const { metadata, ...rest } = pairSecret(secretProps(scopeOf(world), 'c1-proxy-next'), 'clusterApi', next);
    world.put({ ...rest, metadata: { name: metadata.name, namespace: 'team' } });
    await life.untilSettled();
    expect(trusted(world, 'c1-proxy')).toEqual([next.certificate]);
  });

  it('converges when the process dies at every single write, and nothing is made twice', async () => {
    const world = complete.copy();
    const changes = ask('clusterCA', 'etcdCA', 'proxyCA');
    let { time } = new Life(world, changes);
    let lives = 0;
    for (let isOver = false; !isOver && lives < 200; lives++) {
      world.dieAfter(1);
      const life = new Life(world, changes, time);
      isOver = await life.untilDeadOrSettled();
      ({ time } = life);
    }
    world.restart();
    const life = new Life(world, changes, time);
    await life.untilSettled();
    for (const secret of Object.values(secrets)) expect(trusted(world, secret)).toHaveLength(1);
    const made = world.writes.filter((write) => write.startsWith('create '));
    expect(made).toEqual([...new Set(made)]);
    expect(lives).toBeGreaterThan(10);
    // As many lives as there are writes take a busy machine a while.
  }, 240_000);
});
