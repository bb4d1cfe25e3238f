import type { SecretObject } from '../../../imports/kubernetes.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import { Secret } from '../../../constructs/api/resources.ts';
import type { Condition } from '../../../constructs/api/status.ts';
import { isSignedBy } from '../../../reconciler/pki/certificate.ts';
import { createCA, validFor } from '../../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../../reconciler/pki/pem.ts';
import { secretProps } from '../../../reconciler/certificates/secret-props.ts';
import { pairSecret, valueOf } from '../../../reconciler/pki/secret.ts';
import { Life } from '../../support/loop/life.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { clusterName, now, scopeOf } from '../../support/scope.ts';

const yearMs = 365 * 24 * 3600_000;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
  // This takes a while on a busy machine.
}, 60_000);

type CA = 'clusterCA' | 'etcdCA' | 'proxyCA';
const secrets = { clusterCA: 'c1-ca', etcdCA: 'c1-etcd', proxyCA: 'c1-proxy' } as const;
const ask = (...fields: CA[]) => ({
  certificates: { rotation: Object.fromEntries(fields.map((field) => [field, 'please'])) },
});

const trusted = (managementCluster: MemoryCluster, secret: string) =>
  splitCertificates(valueOf(managementCluster.objects.get<SecretObject>(Secret, secret), 'tls.crt') ?? '');

/** Reconciles of one operator, a minute apart. */
class RotationRun {
  readonly reasons: string[] = [];
  readonly reader: MemoryCluster;
  readonly #operator: OperatorProcess;

  constructor(managementCluster: MemoryCluster, operator: OperatorProcess) {
    this.reader = managementCluster;
    this.#operator = operator;
  }

  static async begin(managementCluster: MemoryCluster, life?: Life): Promise<RotationRun> {
    return new RotationRun(managementCluster, await OperatorProcess.start(managementCluster, life));
  }

  get condition(): Condition | undefined {
    return this.reader.conditions.find(({ type }) => type === 'CARotationReady');
  }

  get isOver(): boolean {
    return this.#operator.life.isOver;
  }

  async reconcile(): Promise<void> {
    await this.reader.clock.advance(60_000);
    await this.#operator.untilObserved();
    await this.#operator.reconcile();
    if (this.isOver) return;
    this.reader.settle();
    await this.#operator.untilObserved();
    const { condition } = this;
    if (condition && condition.status !== 'True' && this.reasons.at(-1) !== condition.reason)
      this.reasons.push(condition.reason);
  }

  /** Reconciles until nothing is left to do, or the process dies. */
  async untilSettled(limit = 60): Promise<void> {
    for (let count = 0; count < limit; count++) {
      const before = this.reader.management.writes.length;
      await this.reconcile();
      if (this.isOver) return;
      if (this.#operator.hasNews) continue;
      if (this.condition?.status === 'True' && this.reader.management.writes.length === before) return;
    }
    throw new Error(JSON.stringify(this.condition));
  }

  untilReason(reason: string): Promise<Condition> {
    return this.#until(reason, (condition) => condition.reason === reason);
  }

  untilMessage(part: string): Promise<Condition> {
    return this.#until(part, ({ message }) => message.includes(part));
  }

  async #until(what: string, isIt: (condition: Condition) => boolean): Promise<Condition> {
    for (let count = 0; count < 60; count++) {
      await this.reconcile();
      if (this.condition && isIt(this.condition)) return this.condition;
    }
    throw new Error(`${what} never came, but ${JSON.stringify(this.condition)}`);
  }

  stop(): Promise<void> {
    return this.#operator.stop();
  }
}

describe('a rotation', { timeout: 120_000 }, () => {
  it.each<[CA, string[]]>([
    ['clusterCA', ['c1-apiserver', 'c1-konnectivity-server', 'c1-controller-manager']],
    ['etcdCA', ['c1-etcd-server', 'c1-etcd-peer', 'c1-apiserver-etcd-client', 'c1-etcd-controller']],
    ['proxyCA', ['c1-front-proxy-client']],
  ])('of the %s distributes trust, signs and retires, and then nothing is written any more', async (field, leaves) => {
    const managementCluster = complete.copy();
    const [old = ''] = trusted(managementCluster, secrets[field]);
    await managementCluster.change(ask(field));
    const rotation = await RotationRun.begin(managementCluster);
    await rotation.untilSettled();
    expect(rotation.reasons).toEqual(['DistributingTrust', 'ReissuingCertificates', 'RetiringTrust']);
    const now = trusted(managementCluster, secrets[field]);
    expect(now).toHaveLength(1);
    expect(now).not.toContain(old);
    for (const leaf of leaves)
      expect(isSignedBy(valueOf(managementCluster.objects.get(Secret, leaf), 'tls.crt') ?? '', now[0] ?? '')).toBe(
        true,
      );
    expect(managementCluster.objects.get(Secret, `${secrets[field]}-next`)).toBeUndefined();
    const { length } = managementCluster.management.writes;
    await rotation.reconcile();
    expect(managementCluster.management.writes.slice(length)).toEqual([]);
    await rotation.stop();
  });

  it('ends only when older pods had time to reload the CA certificates without the old one', async () => {
    const managementCluster = complete.copy();
    await managementCluster.change(ask('proxyCA'));
    const rotation = await RotationRun.begin(managementCluster);
    await rotation.untilReason('RetiringTrust');
    const retired = managementCluster.clock.now();
    await rotation.untilMessage('to reload its trusted CAs');
    await rotation.untilSettled();
    expect(managementCluster.clock.now() - retired).toBeGreaterThanOrEqual(3 * 60_000);
    await rotation.stop();
  });

  it('retires the old CA only when running pods had time to reload a client certificate of the new one', async () => {
    const managementCluster = complete.copy();
    await managementCluster.change(ask('clusterCA'));
    const rotation = await RotationRun.begin(managementCluster);
    await rotation.untilReason('ReissuingCertificates');
    const reissued = managementCluster.clock.now();
    await rotation.untilMessage('c1-scheduler-0 to load its client certificate');
    await rotation.untilReason('RetiringTrust');
    // A kubelet writes the file within two minutes, and client-go reads it every five.
    expect(managementCluster.clock.now() - reissued).toBeGreaterThanOrEqual(7 * 60_000);
    await rotation.stop();
  });

  it('keeps both CAs in the Secret that bootstrap providers pin, as long as workers may present either', async () => {
    const managementCluster = complete.copy();
    const [old] = trusted(managementCluster, 'c1-ca');
    await managementCluster.change(ask('clusterCA'));
    const rotation = await RotationRun.begin(managementCluster);
    await rotation.untilReason('ReissuingCertificates');
    const both = trusted(managementCluster, 'c1-ca');
    expect(both).toHaveLength(2);
    expect(both).toContain(old);
    expect(valueOf(managementCluster.objects.get<SecretObject>(Secret, 'c1-ca'), 'tls.key')).toBeDefined();
    await rotation.stop();
  });

  it('can be cancelled until the new CA signs, and can be requested again', async () => {
    const managementCluster = complete.copy();
    const before = trusted(managementCluster, 'c1-etcd');
    await managementCluster.change(ask('etcdCA'));
    const rotation = await RotationRun.begin(managementCluster);
    while (trusted(managementCluster, 'c1-etcd').length < 2) await rotation.reconcile();
    await managementCluster.change({ certificates: { rotation: null } });
    await rotation.untilSettled();
    expect(rotation.reasons.at(-1)).toBe('WithdrawingTrust');
    expect(rotation.reasons).not.toContain('ReissuingCertificates');
    expect(trusted(managementCluster, 'c1-etcd')).toEqual(before);
    expect(managementCluster.objects.get(Secret, 'c1-etcd-next')).toBeUndefined();
    await managementCluster.change(ask('etcdCA'));
    await rotation.untilSettled();
    expect(trusted(managementCluster, 'c1-etcd')).not.toEqual(before);
    await rotation.stop();
  });

  it("starts without a request at about half of the lifetime of the provider's own CA", async () => {
    const managementCluster = complete.copy();
    const before = Object.values(secrets).map((secret) => trusted(managementCluster, secret));
    await managementCluster.clock.advance(6.1 * yearMs);
    const rotation = await RotationRun.begin(managementCluster);
    await rotation.untilSettled();
    await rotation.stop();
    const after = Object.values(secrets).map((secret) => trusted(managementCluster, secret));
    for (const [index, each] of after.entries()) expect(before[index]).not.toContain(each[0]);
  });

  it("of a user's CA waits for the user's next one, and never starts without a request", async () => {
    const managementCluster = complete.copy();
    const own = managementCluster.objects.get<SecretObject & StoredObject>(Secret, 'c1-proxy');
    if (!own) throw new Error('there is no CA');
    managementCluster.objects.put({
      ...own,
      metadata: { ...own.metadata, labels: { [clusterNameLabel]: clusterName }, ownerReferences: [] },
    });
    const before = trusted(managementCluster, 'c1-proxy');

    const later = managementCluster.copy();
    await later.clock.advance(6.5 * yearMs);
    const late = await RotationRun.begin(later);
    expect((await late.untilReason('CAExpiring')).message).toContain('c1-proxy-next');
    expect(trusted(later, 'c1-proxy')).toEqual(before);
    await late.stop();

    await managementCluster.change(ask('proxyCA'));
    const rotation = await RotationRun.begin(managementCluster);
    expect((await rotation.untilReason('CACertificateInvalid')).message).toContain('Secret c1-proxy-next');
    const next = await createCA({ commonName: 'mine' }, validFor(10 * yearMs, now));
    const props = secretProps(scopeOf(new MemoryObjects()), 'c1-proxy-next');
    const { metadata, ...rest } = pairSecret(props, 'clusterApi', next);
    const given = { ...rest, metadata: { name: metadata.name, namespace: 'team' } };
    await managementCluster.user.create(given, { fieldManager: 'user' });
    await rotation.untilSettled();
    await rotation.stop();
    expect(trusted(managementCluster, 'c1-proxy')).toEqual([next.certificate]);
  });

  it('converges when the process dies at every single write, and creates nothing twice', async () => {
    const managementCluster = complete.copy();
    await managementCluster.change(ask('clusterCA', 'etcdCA', 'proxyCA'));
    let processes = 0;
    for (let isOver = true; isOver && processes < 200; processes++) {
      const life = new Life({ after: () => life.end() });
      const rotation = await RotationRun.begin(managementCluster, life);
      await rotation.untilSettled();
      ({ isOver } = life);
      // Kubernetes' controllers act while no operator runs.
      managementCluster.settle();
    }
    for (const secret of Object.values(secrets)) expect(trusted(managementCluster, secret)).toHaveLength(1);
    const made = managementCluster.management.writes.filter((write) => write.startsWith('create Secret'));
    expect(made).toEqual([...new Set(made)]);
    expect(processes).toBeGreaterThan(10);
    // One operator process per write takes a while on a busy machine.
  }, 240_000);
});
