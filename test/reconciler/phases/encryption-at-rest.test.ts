import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { apiServerThat } from '../../support/api-server-answers.ts';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { objectLabels, selectorLabels } from '../../../constructs/cluster/labels.ts';
import type { HostedControlPlaneStatus } from '../../../constructs/api/status.ts';
import { Deployment, Pod, Secret } from '../../../constructs/api/resources.ts';
import { BackgroundWork } from '../../../reconciler/tasks/background-work.ts';
import { identity, nameOf } from '../../../reconciler/encryption-at-rest/configuration.ts';
import { type EncryptionKeys, readEncryptionKeys } from '../../../reconciler/encryption-at-rest/secret.ts';
import type { Outcome } from '../../../reconciler/engine/outcome.ts';
import { encryptionAtRest } from '../../../reconciler/phases/encryption-at-rest.ts';
import type { SecretObject } from '../../../reconciler/pki/secret.ts';
import type { HostedClient } from '../../../reconciler/hosted/hosted-client.ts';
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

/** API servers that take over new keys one after the other, and the Secrets they have stored. */
class FakeApiServers {
  readonly #management: MemoryObjects;
  readonly #loaded = new Map<string, EncryptionKeys | undefined>();
  /** Under which key each Secret is stored. */
  readonly stored: string[] = [];
  #turn = 0;
  #lives = 0;

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

  /** What the phase sees of them. */
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

  /** One of them loads what the Secret says, and somebody writes by way of another. */
  live(): void {
    const addresses = [...this.#loaded.keys()];
    const server = addresses[this.#lives++ % addresses.length] ?? '';
    this.#loaded.set(server, this.#configured() ?? this.#loaded.get(server));
    this.#write();
  }

  /** Secrets that some API server cannot read. */
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

/** One operator after the other over a control plane that runs. */
class Lives {
  readonly reader: MemoryObjects;
  readonly servers: FakeApiServers;
  readonly reasons = new Set<string>();
  /** All that was said to anybody: outcomes, errors, the status. */
  readonly said: string[] = [];
  readonly #clock = new ManualClock(now.getTime());
  readonly #status: HostedControlPlaneStatus = { initialization: { controlPlaneInitialized: true } };
  #work = this.#born();
  #restore: { startTime: string; completionTime?: string } | undefined;

  private constructor(management: MemoryObjects) {
    this.reader = management;
    this.servers = new FakeApiServers(management);
  }

  static async begin(spec: object = {}): Promise<Lives> {
    const management = new MemoryObjects();
    await encryptionAtRest.run(scopeOf(management, { spec }));
    const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 2, updatedReplicas: 2 };
    const { apiVersion, kind } = Deployment;
    const metadata = { name: 'c1-api-server', labels: objectLabels('c1', 'api-server'), generation: 1 };
    const isConfigured = secretIn(management) !== undefined;
    const deployment = { replicas: 2, ...(isConfigured ? { volumes: [{ secret: { name } }] } : {}) };
    management.put({ apiVersion, kind, metadata, spec: deployment, status: { observedGeneration: 1, ...counts } });
    return new Lives(management);
  }

  /** The operator dies, and another one starts. */
  restart(): void {
    this.#work = this.#born();
    this.reader.restart();
  }

  restore(step: { startTime: string; completionTime?: string }): void {
    this.#restore = step;
  }

  /** One pass, and then some time for the API servers and what goes on beside the queue. */
  async pass(spec: object = {}): Promise<Outcome | undefined> {
    const outcome = await this.#run({ spec }).catch((error: unknown) => {
      this.said.push(inspect(error, { depth: 10, showHidden: true }));
      if (!(error instanceof Killed)) throw error;
      return undefined;
    });
    await this.#clock.advance(5_000);
    this.servers.live();
    if (this.servers.unreadable.length > 0) throw new Error(this.servers.unreadable.join('\n'));
    return outcome;
  }

  /** Passes until there is nothing more to do. */
  async settle(spec: object = {}): Promise<void> {
    for (let count = 0; count < 60; count++) {
      const outcome = await this.pass(spec);
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
      }),
    );
    if (outcome.kind === 'degraded') this.reasons.add(outcome.reason);
    Object.assign(this.#status, outcome.report);
    this.said.push(JSON.stringify([outcome, this.#status]));
    return outcome;
  }

  #born() {
    return new BackgroundWork({ clock: this.#clock, onChange: () => {} }).of('any');
  }
}

const rotate = (rotation: string) => ({ encryptionAtRest: { rotation } });
const provide = (provider: 'secretbox' | 'None') => ({ encryptionAtRest: { provider } });
const writers = (management: MemoryObjects) => keysIn(management).providers.map(nameOf);

describe('keys of Secrets', () => {
  it('are there before the first API server, and nothing has to be proved of them', async () => {
    const { reader: management } = await Lives.begin();
    expect(keysIn(management)).toMatchObject({ isLoaded: true, retired: [], rotation: '' });
    expect(secretIn(management)).toMatchObject({
      type: 'Opaque',
      metadata: { labels: { 'cluster.x-k8s.io/cluster-name': 'c1' }, ownerReferences: [{ controller: true }] },
    });
  });

  it('are replaced so that every API server can read everything all the time', async () => {
    const lives = await Lives.begin();
    const [before] = writers(lives.reader);
    await lives.settle(rotate('first'));
    const [after, ...others] = writers(lives.reader);
    expect(others).toEqual([]);
    expect(after).not.toBe(before);
    expect(new Set(lives.servers.stored)).toEqual(new Set([after]));
    expect([...lives.reasons]).toEqual(['DistributingKey', 'RewritingSecrets', 'RetiringKey']);
    expect(keysIn(lives.reader).retired.map(nameOf)).toEqual([before]);

    const { writes } = lives.reader;
    const written = writes.length;
    await lives.settle(rotate('first'));
    expect(writes.length).toBe(written);
  });

  it.each<[string, object[]]>([
    ['a rotation', [rotate('first'), rotate('second')]],
    ['the way to clear and back', [provide('None'), provide('secretbox')]],
    ['one that the user thinks better of', [provide('None'), provide('secretbox'), provide('None')]],
  ])(
    'come through %s when the operator dies at every single write',
    async (_, specs) => {
      const lives = await Lives.begin();
      for (const spec of specs) {
        for (let life = 0; life < 16; life++) {
          lives.restart();
          lives.reader.dieAfter(life % 4);
          for (let passes = 0; passes < 5; passes++) await lives.pass(spec);
        }
        lives.restart();
        await lives.settle(spec);
        const expected = keysIn(lives.reader).providers.map(nameOf);
        expect(new Set(lives.servers.stored)).toEqual(new Set(expected));
        expect(expected).toHaveLength(1);
      }
    },
    30_000,
  );

  it('are told to nobody, and stand in one Secret only', async () => {
    const lives = await Lives.begin();
    const secrets = new Set<string>();
    for (const spec of [rotate('first'), provide('None'), provide('secretbox')]) {
      for (let passes = 0; passes < 15; passes++) {
        for (const one of keysIn(lives.reader).providers) if (one !== identity) secrets.add(one.secret);
        if (passes === 4) lives.reader.dieAfter(0);
        if (passes === 6) lives.restart();
        await lives.pass(spec);
      }
    }
    lives.reader.refuse(({ kind }) => new Error(`apply ${kind}: refused`));
    await expect(lives.pass(rotate('second'))).rejects.toThrow('refused');

    expect(secrets.size).toBeGreaterThanOrEqual(3);
    const spellings = [...secrets].flatMap((secret) => [secret, Buffer.from(secret).toString('base64')]);
    expect(lives.said.filter((text) => spellings.some((spelling) => text.includes(spelling)))).toEqual([]);
    const others = lives.reader.objects
      .filter(({ metadata }) => metadata.name !== name)
      .map((one) => JSON.stringify(one));
    expect(others.filter((text) => spellings.some((spelling) => text.includes(spelling)))).toEqual([]);
    // What looks for them would find them.
    const held = Buffer.from(secretIn(lives.reader)!.data!['config.yaml']!, 'base64').toString();
    expect([...secrets].some((secret) => held.includes(secret))).toBe(true);
  }, 30_000);

  it('are made for a control plane that stored in clear, without a moment in which one API server knows them alone', async () => {
    const lives = await Lives.begin(provide('None'));
    expect(secretIn(lives.reader)).toBeUndefined();
    expect(new Set(lives.servers.stored)).toEqual(new Set([identity]));
    await lives.settle();
    expect(secretIn(lives.reader)).toBeUndefined();
    const first = await lives.pass(provide('secretbox'));
    expect(first).toMatchObject({ facts: { encryptionAtRest: true } });
    for (let passes = 0; passes < 24; passes++) await lives.pass(provide('secretbox'));
    const [key, ...others] = writers(lives.reader);
    expect(others).toEqual([]);
    expect(new Set(lives.servers.stored)).toEqual(new Set([key]));
  });

  it('that were retired read again while a backup of their time is restored, and everything is stored anew after it', async () => {
    const lives = await Lives.begin();
    const [old = ''] = writers(lives.reader);
    await lives.settle(rotate('first'));
    const [current = ''] = writers(lives.reader);
    lives.restore({ startTime: '2026-11-21T12:00:00Z' });
    for (let passes = 0; passes < 4; passes++) await lives.pass(rotate('first'));
    expect(writers(lives.reader)).toEqual([current, old, identity]);
    lives.servers.stored.push(old, identity);
    lives.restore({ startTime: '2026-11-21T12:00:00Z', completionTime: '2026-11-21T12:05:00Z' });
    await lives.settle(rotate('first'));
    expect(writers(lives.reader)).toEqual([current]);
    expect(new Set(lives.servers.stored)).toEqual(new Set([current]));
  });

  it('are told from the status of a rotation', async () => {
    const lives = await Lives.begin();
    await lives.settle(rotate('first'));
    const outcome = await lives.pass(rotate('first'));
    expect(outcome?.report).toEqual({ encryptionAtRest: { provider: 'secretbox', rotation: 'first' } });
  });
});

describe('keys that are lost', () => {
  it('stop the line, are not made anew, and are taken up when they are back', async () => {
    const lives = await Lives.begin();
    await lives.settle();
    const lost = secretIn(lives.reader)!;
    lives.reader.remove(lost);
    const outcome = await lives.pass();
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'EncryptionKeysMissing' });
    expect(secretIn(lives.reader)).toBeUndefined();

    const { labels: _, ownerReferences: __, ...metadata } = lost.metadata;
    lives.reader.put({ ...lost, metadata });
    expect(await lives.pass()).toMatchObject({ kind: 'done', facts: { encryptionAtRest: true } });
    expect(secretIn(lives.reader)?.metadata).toMatchObject({
      labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
      ownerReferences: [{ controller: true }],
    });
  });

  it('stop the line also when the Secret holds something else', async () => {
    const lives = await Lives.begin();
    lives.reader.put({ ...secretIn(lives.reader)!, data: {} });
    const outcome = await lives.pass();
    expect(outcome).toMatchObject({ kind: 'wait', reason: 'EncryptionKeysInvalid' });
  });
});

describe("a user's own configuration", () => {
  const args = { 'encryption-provider-config': '/etc/mine.yaml' };
  const own = { deployment: { apiServer: { args } } };
  it('is left alone', async () => {
    const management = new MemoryObjects();
    expect(await encryptionAtRest.run(scopeOf(management, { spec: own }))).toMatchObject({ kind: 'done', facts: {} });
    expect(secretIn(management)).toBeUndefined();
  });

  it('contradicts the wish for ours', async () => {
    const management = new MemoryObjects();
    const scope = scopeOf(management, { spec: { ...own, ...provide('secretbox') } });
    await expect(encryptionAtRest.run(scope)).rejects.toThrow('contradict each other');
  });
});

function secretNamed(name: string): KubeObject {
  return { apiVersion: Secret.apiVersion, kind: Secret.kind, metadata: { namespace: 'default', name } };
}
