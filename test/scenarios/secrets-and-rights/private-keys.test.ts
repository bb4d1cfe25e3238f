import type { SecretObject } from '../../../imports/kubernetes.ts';
import { inspect } from 'node:util';
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { Secret, Service } from '../../../constructs/api/resources.ts';
import type { FactsWith } from '../../../constructs/cluster/facts.ts';
import { runPhases } from '../../../reconciler/engine/run-phases.ts';
import { HostedClients } from '../../../reconciler/clusters/hosted/clients.ts';
import { hostedTarget } from '../../../reconciler/clusters/hosted/target.ts';
import { systemClock } from '../../../reconciler/kube/clock.ts';
import { createServiceAccountKey } from '../../../reconciler/pki/issue.ts';
import { pairOf } from '../../../reconciler/pki/secret.ts';
import { phases } from '../../../reconciler/reconcile/phases.ts';
import type { Scope } from '../../../reconciler/phases/scope.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { reportTransition } from '../../../reconciler/reconcile/status/transition.ts';
import { settle } from '../../support/management-controllers.ts';
import { MemoryObjects, type StoredObject } from '../../support/memory-objects.ts';
import { privateKeyIn } from '../../support/private-keys.ts';
import { hostedControlPlaneObject, now, type ScopeChanges, scopeOf } from '../../support/scope.ts';

const year = 365 * 24 * 3600_000;
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Records everything that reconciles report: conditions, events, log lines, errors, facts. */
class Reports {
  readonly texts: string[] = [];
  readonly #log = createLogger({ format: 'json', level: 'debug' }, { write: (line) => this.texts.push(line) });

  /** One reconcile; returns the reasons of all phases. */
  async reconcile(management: MemoryObjects, scope: Scope = scopeOf(management)): Promise<string[]> {
    const results = await runPhases(phases, scope);
    for (const { phase, update, facts, error } of results) {
      const object = hostedControlPlaneObject();
      const transition = { object, type: phase.condition, update, before: undefined, isInitialized: true };
      reportTransition(transition, this.#log, { record: (_, note) => this.texts.push(JSON.stringify(note)) });
      this.#log.warn({ hostedControlPlane: 'team/c1', error }, 'reconcile failed');
      this.texts.push(update.message, JSON.stringify(facts), inspect(error, { depth: 10, showHidden: true }));
    }
    settle(management);
    return results.map(({ update }) => update.reason);
  }
}

function damage(management: MemoryObjects, name: string, key: string): void {
  const secret = management.get<SecretObject & StoredObject>(Secret, name)!;
  management.put({ ...secret, data: { ...secret.data, 'tls.key': base64(key) } });
}

describe('the search for private keys', () => {
  let key: string;
  beforeAll(async () => {
    ({ key } = createServiceAccountKey());
  });

  it.each<[string, (key: string) => string]>([
    ['as it is', (pem) => `apply failed: ${pem}`],
    ['in JSON', (pem) => JSON.stringify({ 'tls.key': pem })],
    ['in base64, as in a Secret', (pem) => JSON.stringify({ data: { 'tls.key': base64(pem) } })],
    ['in base64 after other letters', (pem) => `x${base64(pem)}`],
    ['in a kubeconfig in a Secret', (pem) => base64(`users:\n- user:\n    client-key-data: ${base64(pem)}\n`)],
    ['without its first line', (pem) => pem.split('\n').slice(1).join('\n')],
    [
      'of RSA',
      () =>
        generateKeyPairSync('rsa', { modulusLength: 2048 })
          .privateKey.export({ type: 'pkcs8', format: 'pem' })
          .toString()
          .slice(28),
    ],
  ])('finds one %s', (_, plant) => {
    expect(privateKeyIn(plant(key))).toBeDefined();
  });

  it('finds none in certificates and public keys', async () => {
    const management = new MemoryObjects();
    await new Reports().reconcile(management);
    const publicParts = management.list<SecretObject>(Secret, {}).map((secret) => pairOf(secret)?.certificate ?? '');
    expect(publicParts.join('')).toContain('BEGIN CERTIFICATE');
    expect(privateKeyIn(publicParts.join('') + base64(publicParts.join('')))).toBeUndefined();
  });
});

describe('a private key', () => {
  const reports = new Reports();
  const management = new MemoryObjects();

  it('is never reported while a control plane is created, fails, is damaged and renewed', async () => {
    const reasons = new Set<string>();
    const collect = async (changes: ScopeChanges = {}) => {
      for (const reason of await reports.reconcile(management, scopeOf(management, changes))) reasons.add(reason);
    };
    for (let count = 0; count < 5; count++) await collect();
    expect([...reasons]).toContain('ReconcileSucceeded');

    const { key } = createServiceAccountKey();
    damage(management, 'c1-etcd-server', key);
    damage(management, 'c1-apiserver', key.slice(0, 120));
    await collect({ now: new Date(now.getTime() + year) });
    damage(management, 'c1-ca', key);
    await collect();
    damage(management, 'c1-ca', key.slice(0, 120));
    await collect();
    expect([...reasons]).toContain('CACertificateInvalid');

    management.refuse(({ kind, metadata }) => new Error(`apply ${kind} ${metadata.name}: refused`));
    management.remove(management.get(Secret, 'c1-ca')!);
    await collect();
    expect([...reasons]).toContain('ReconcileFailed');

    expect(reports.texts.length).toBeGreaterThan(100);
    expect(reports.texts.filter((text) => privateKeyIn(text))).toEqual([]);
  });

  it('is never reported when the hosted cluster cannot be reached', async () => {
    const unreachable = new MemoryObjects();
    const reports = new Reports();
    // Nothing listens on this port.
    const changes = { spec: { exposure: { loadBalancer: { port: 1 } } } };
    for (let count = 0; count < 3; count++) await reports.reconcile(unreachable, scopeOf(unreachable, changes));
    const service = unreachable.get<StoredObject>(Service, 's-c1')!;
    unreachable.put({ ...service, spec: { ...(service['spec'] as object), clusterIP: '127.0.0.1' } });
    const clients = new HostedClients({
      clock: systemClock,
      onChange: () => {},
      onRevert: (_, what) => reports.texts.push(what),
      onError: (_, error) => reports.texts.push(inspect(error, { depth: 10, showHidden: true })),
    });
    const scope = scopeOf(unreachable, changes);
    const endpoint = { host: '127.0.0.1', port: 1 };
    const dialled = (facts: FactsWith<'endpoint'>) =>
      clients.get('x', { ...hostedTarget(scope.cluster, facts, unreachable), endpoint });
    expect(await reports.reconcile(unreachable, { ...scope, hosted: dialled })).toContain('WaitingForAPIServer');
    await clients.close();
    expect(reports.texts.filter((text) => privateKeyIn(text))).toEqual([]);
  });

  it('is stored in Secrets only', () => {
    const holders = management.objects.filter((object) => privateKeyIn(JSON.stringify(object)));
    expect(new Set(holders.map(({ kind }) => kind))).toEqual(new Set([Secret.kind]));
  });
});
