import type { SecretObject } from '../../../imports/kubernetes.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { apiServerThat } from '../../support/api-server-answers.ts';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { objectLabels, selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { Deployment, Pod, Secret } from '../../../constructs/api/resources.ts';
import { BackgroundWork } from '../../../reconciler/engine/tasks/background-work.ts';
import { identity, nameOf } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import type { HostedClient } from '../../../reconciler/clusters/hosted/hosted-client.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Killed, MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const name = 'c1-encryption';
const secretIn = (management: MemoryObjects) => management.get<SecretObject & StoredObject>(Secret, name);

function keysIn(management: MemoryObjects): EncryptionKeys {
  const secret = secretIn(management);
  const keys = secret && readEncryptionKeys(secret);
  if (!keys) throw new Error('there are no keys');
  return keys;
}

/** API servers that load new keys one after the other, and the Secrets they have stored. */
class FakeApiServers {
  readonly #management: MemoryObjects;
  readonly #loaded = new Map<string, EncryptionKeys | undefined>();
  /** The key that each Secret is stored with. */
  readonly stored: string[] = [];
  #turn = 0;
  #operators = 0;

  constructor(management: MemoryObjects) {
    this.#management = management;
    const { apiVersion, kind } = Pod;
    for (const podIP of ['192.0.2.1', '192.0.2.2']) {
      const annotations = { [versionAnnotation]: 'v1.36.3' };
      const metadata = { name: `pod-${podIP}`, labels: selectorLabels('c1', 'api-server'), annotations };
      management.put({ apiVersion, kind, metadata, status: { podIP } });
      this.#loaded.set(podIP, this.#configured());
    }
    for (let count = 0; count < 4; count++) this.#write();
  }

  /** The hosted client that the phase gets. */
  get client(): Partial<HostedClient> {
    return {
      at: (address, _identity, work) =>
        work(apiServerThat({ loadedEncryption: () => this.#loaded.get(address)?.hash })),
      asAdministrator: (work) =>
        work(
          apiServerThat({
            secrets: () => [...this.stored.keys()].map((index) => secretNamed(`${index}`)),
            patch: (_, name) => (this.stored[Number(name)] = this.#writerOf(this.#next())),
          }),
        ),
    };
  }

  /** One API server loads the current Secret, and a client writes through another one. */
  live(): void {
    const addresses = [...this.#loaded.keys()];
    const server = addresses[this.#operators++ % addresses.length] ?? '';
    this.#loaded.set(server, this.#configured() ?? this.#loaded.get(server));
    this.#write();
  }

  /** Secrets that an API server cannot read. */
  get unreadable(): string[] {
    return [...this.#loaded].flatMap(([address, keys]) =>
      this.stored
        .filter((key) => !(keys?.providers.map(nameOf) ?? [identity]).includes(key))
        .map((key) => `${address} cannot read ${key}`),
    );
  }

  #configured(): EncryptionKeys | undefined {
    const secret = secretIn(this.#management);
    return secret && readEncryptionKeys(secret);
  }

  #write(): void {
    this.stored.push(this.#writerOf(this.#next()));
  }

  #writerOf(address: string): string {
    const [writer = identity] = this.#loaded.get(address)?.providers ?? [identity];
    return nameOf(writer);
  }

  #next(): string {
    const addresses = [...this.#loaded.keys()];
    return addresses[this.#turn++ % addresses.length] ?? '';
  }
}

/** A running control plane, and operators that replace each other. */
class Operators {
  readonly reader: MemoryObjects;
  readonly servers: FakeApiServers;
  readonly reasons = new Set<string>();
  /** Everything the operators report: outcomes, errors, the status. */
  readonly reports: string[] = [];
  readonly #clock = new ManualClock(now.getTime());
  readonly #status: HostedControlPlaneStatus = { initialization: { controlPlaneInitialized: true } };
  #work = this.#born();
  #restore: { startTime: string; completionTime?: string } | undefined;

  private constructor(management: MemoryObjects) {
    this.reader = management;
    this.servers = new FakeApiServers(management);
  }

  static async begin(spec: object = {}): Promise<Operators> {
    const management = new MemoryObjects();
    await encryptionAtRest.run(scopeOf(management, { spec }));
    const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 };
    const { apiVersion, kind } = Deployment;
    const metadata = { name: 'c1-api-server', labels: objectLabels('c1', 'api-server'), generation: 1 };
    const isConfigured = secretIn(management) !== undefined;
    const deployment = { replicas: 2, ...(isConfigured ? { volumes: [{ secret: { name } }] } : {}) };
    management.put({ apiVersion, kind, metadata, spec: deployment, status: { observedGeneration: 1, ...counts } });
    return new Operators(management);
  }

  /** The operator dies, and another one starts. */
  restart(): void {
    this.#work = this.#born();
    this.reader.restart();
  }

  restore(step: { startTime: string; completionTime?: string }): void {
    this.#restore = step;
  }

  /** One reconcile, and then some time for the API servers and background work. */
  async reconcile(spec: object = {}): Promise<Outcome | undefined> {
    const outcome = await this.#run({ spec }).catch((error: unknown) => {
      this.reports.push(inspect(error, { depth: 10, showHidden: true }));
      if (!(error instanceof Killed)) throw error;
      return undefined;
    });
    await this.#clock.advance(5_000);
    this.servers.live();
    if (this.servers.unreadable.length > 0) throw new Error(this.servers.unreadable.join('\n'));
    return outcome;
  }

  /** Reconciles until nothing is left to do. */
  async settle(spec: object = {}): Promise<void> {
    for (let count = 0; count < 60; count++) {
      const outcome = await this.reconcile(spec);
      if (outcome?.kind === 'done') return;
    }
    throw new Error(`not settled: ${keysIn(this.reader).providers.map(nameOf).join(', ')}`);
  }

  async #run(changes: ScopeChanges): Promise<Outcome> {
    const etcd = this.#restore && { etcd: { restore: { request: 'any', ...this.#restore } } };
    const outcome = await encryptionAtRest.run(
      scopeOf(this.reader, {
        ...changes,
        status: { ...this.#status, ...etcd },
        hosted: this.servers.client,
        work: this.#work,
        now: new Date(this.#clock.now()),
        clock: this.#clock,
      }),
    );
    if (outcome.kind === 'degraded') this.reasons.add(outcome.reason);
    Object.assign(this.#status, outcome.report);
    this.reports.push(JSON.stringify([outcome, this.#status]));
    return outcome;
  }

  #born() {
    return new BackgroundWork({ clock: this.#clock, onChange: () => {} }).of('any');
  }
}

const rotate = (rotation: string) => ({ encryptionAtRest: { rotation } });
const provide = (provider: 'secretbox' | 'None') => ({ encryptionAtRest: { provider } });
const writers = (management: MemoryObjects) => keysIn(management).providers.map(nameOf);

describe('encryption keys of Secrets', () => {
  it('exist before the first API server, without verification', async () => {
    const { reader: management } = await Operators.begin();
    expect(keysIn(management)).toMatchObject({ isLoaded: true, retired: [], rotation: '' });
    expect(secretIn(management)).toMatchObject({
      type: 'Opaque',
      metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'c1' }, ownerReferences: [{ controller: true }] },
    });
  });

  it('are rotated while every API server can read every Secret all the time', async () => {
    const operators = await Operators.begin();
    const [before] = writers(operators.reader);
    await operators.settle(rotate('first'));
    const [after, ...others] = writers(operators.reader);
    expect(others).toEqual([]);
    expect(after).not.toBe(before);
    expect(new Set(operators.servers.stored)).toEqual(new Set([after]));
    expect([...operators.reasons]).toEqual(['DistributingKey', 'RewritingSecrets', 'RetiringKey']);
    expect(keysIn(operators.reader).retired.map(nameOf)).toEqual([before]);

    const { writes } = operators.reader;
    const written = writes.length;
    await operators.settle(rotate('first'));
    expect(writes.length).toBe(written);
  });

  it.each<[string, object[]]>([
    ['a rotation', [rotate('first'), rotate('second')]],
    ['a change to no encryption and back', [provide('None'), provide('secretbox')]],
    ['a change that the user reverts', [provide('None'), provide('secretbox'), provide('None')]],
  ])(
    'complete %s when the operator dies at every single write',
    async (_, specs) => {
      const operators = await Operators.begin();
      for (const spec of specs) {
        for (let run = 0; run < 16; run++) {
          operators.restart();
          operators.reader.dieAfter(run % 4);
          for (let count = 0; count < 5; count++) await operators.reconcile(spec);
        }
        operators.restart();
        await operators.settle(spec);
        const expected = keysIn(operators.reader).providers.map(nameOf);
        expect(new Set(operators.servers.stored)).toEqual(new Set(expected));
        expect(expected).toHaveLength(1);
      }
    },
    30_000,
  );

  it('are never reported, and are stored in one Secret only', async () => {
    const operators = await Operators.begin();
    const secrets = new Set<string>();
    for (const spec of [rotate('first'), provide('None'), provide('secretbox')]) {
      for (let count = 0; count < 15; count++) {
        for (const one of keysIn(operators.reader).providers) if (one !== identity) secrets.add(one.secret);
        if (count === 4) operators.reader.dieAfter(0);
        if (count === 6) operators.restart();
        await operators.reconcile(spec);
      }
    }
    operators.reader.refuse(({ kind }) => new Error(`apply ${kind}: refused`));
    await expect(operators.reconcile(rotate('second'))).rejects.toThrow('refused');

    expect(secrets.size).toBeGreaterThanOrEqual(3);
    const spellings = [...secrets].flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]);
    expect(operators.reports.filter((text) => spellings.some((spelling) => text.includes(spelling)))).toEqual([]);
    const others = operators.reader.objects
      .filter(({ metadata }) => metadata.name !== name)
      .map((one) => JSON.stringify(one));
    expect(others.filter((text) => spellings.some((spelling) => text.includes(spelling)))).toEqual([]);
    // The search finds them in that Secret.
    const held = Buffer.from(secretIn(operators.reader)!.data!['config.yaml']!, 'base64').toString();
    expect([...secrets].some((secret) => held.includes(secret))).toBe(true);
  }, 30_000);

  it('are created for a control plane that stored Secrets unencrypted, without ever being writable before every API server can read them', async () => {
    const operators = await Operators.begin(provide('None'));
    expect(secretIn(operators.reader)).toBeUndefined();
    expect(new Set(operators.servers.stored)).toEqual(new Set([identity]));
    await operators.settle();
    expect(secretIn(operators.reader)).toBeUndefined();
    const first = await operators.reconcile(provide('secretbox'));
    expect(first).toMatchObject({ facts: { encryptionAtRest: true } });
    for (let count = 0; count < 24; count++) await operators.reconcile(provide('secretbox'));
    const [key, ...others] = writers(operators.reader);
    expect(others).toEqual([]);
    expect(new Set(operators.servers.stored)).toEqual(new Set([key]));
  });

  it('that were retired can be read during the restore of a backup of their time, and all Secrets are rewritten after it', async () => {
    const operators = await Operators.begin();
    const [old = ''] = writers(operators.reader);
    await operators.settle(rotate('first'));
    const [current = ''] = writers(operators.reader);
    operators.restore({ startTime: '2026-11-21T12:00:00Z' });
    for (let count = 0; count < 4; count++) await operators.reconcile(rotate('first'));
    expect(writers(operators.reader)).toEqual([current, old, identity]);
    operators.servers.stored.push(old, identity);
    operators.restore({ startTime: '2026-11-21T12:00:00Z', completionTime: '2026-11-21T12:05:00Z' });
    await operators.settle(rotate('first'));
    expect(writers(operators.reader)).toEqual([current]);
    expect(new Set(operators.servers.stored)).toEqual(new Set([current]));
  });

  it('are derived from the status of a rotation', async () => {
    const operators = await Operators.begin();
    await operators.settle(rotate('first'));
    const outcome = await operators.reconcile(rotate('first'));
    expect(outcome?.report).toEqual({ encryptionAtRest: { provider: 'secretbox', rotation: 'first' } });
  });
});

describe('lost keys', () => {
  it('block the phase, are not recreated, and are used when they are back', async () => {
    const operators = await Operators.begin();
    await operators.settle();
    const lost = secretIn(operators.reader)!;
    operators.reader.remove(lost);
    const outcome = await operators.reconcile();
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'EncryptionKeysMissing' });
    expect(secretIn(operators.reader)).toBeUndefined();

    const { labels: _, ownerReferences: __, ...metadata } = lost.metadata;
    operators.reader.put({ ...lost, metadata });
    expect(await operators.reconcile()).toMatchObject({ kind: 'done', facts: { encryptionAtRest: true } });
    expect(secretIn(operators.reader)?.metadata).toMatchObject({
      labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
      ownerReferences: [{ controller: true }],
    });
  });

  it('block the phase also if the Secret has other content', async () => {
    const operators = await Operators.begin();
    operators.reader.put({ ...secretIn(operators.reader)!, data: {} });
    const outcome = await operators.reconcile();
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'EncryptionKeysInvalid' });
  });
});

describe("a user's own configuration", () => {
  const args = { 'encryption-provider-config': '/etc/mine.yaml' };
  const own = { deployment: { apiServer: { args } } };
  it('is not changed', async () => {
    const management = new MemoryObjects();
    expect(await encryptionAtRest.run(scopeOf(management, { spec: own }))).toMatchObject({ kind: 'done', facts: {} });
    expect(secretIn(management)).toBeUndefined();
  });

  it('contradicts encryption by the operator', async () => {
    const management = new MemoryObjects();
    const scope = scopeOf(management, { spec: { ...own, ...provide('secretbox') } });
    await expect(encryptionAtRest.run(scope)).rejects.toThrow('contradict each other');
  });
});

function secretNamed(name: string): KubeObject {
  return { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { namespace: 'default', name } };
}
