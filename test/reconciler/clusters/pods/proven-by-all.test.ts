import { expect, it } from 'vitest';
import { Pod } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { podsWithProblem, provenByAll } from '../../../../reconciler/clusters/pods/proven-by-all.ts';
import { BackgroundWork } from '../../../../reconciler/engine/tasks/background-work.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { clusterName, now, scopeOf } from '../../../support/scope.ts';

/** API servers, each of which reports the version that it has loaded; one without any does not answer. */
class Servers {
  readonly objects = new MemoryObjects();
  readonly loaded = new Map<string, string>();
  readonly #clock = new ManualClock(now.getTime());
  readonly #work = new BackgroundWork({ clock: this.#clock, onChange: () => {} }).of('any');

  put(name: string, uid = name): void {
    const metadata = { name, uid, labels: selectorLabels(clusterName, 'api-server') };
    this.objects.put({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata, status: { podIP: name } });
  }

  /** One reconcile, and the time after which all are asked again. */
  async prove(version: string): Promise<string> {
    const scope = scopeOf(this.objects, { work: this.#work, clock: this.#clock, now: new Date(this.#clock.now()) });
    const proof = await provenByAll(scope, {
      name: 'any proof',
      component: 'api-server',
      version,
      purpose: 'any',
      ask: (pods) => podsWithProblem(pods, (address) => this.#problemOf(address, version)),
    });
    await this.#clock.advance(3_000);
    return proof.kind === 'proved' ? 'proved' : proof.who;
  }

  async #problemOf(address: string, version: string): Promise<string | undefined> {
    const loaded = this.loaded.get(address);
    if (loaded === undefined) throw new Error('connection refused');
    return loaded === version ? undefined : `has ${loaded}`;
  }
}

it('is nothing without pods', async () => {
  expect(await new Servers().prove('new')).toBe('api-server: no pods run');
});

it('names who has not, until all have, and asks a pod again that was replaced', async () => {
  const servers = new Servers();
  for (const name of ['a', 'b']) servers.put(name);
  servers.loaded.set('a', 'old');
  expect(await servers.prove('new')).toBe('all answers');
  expect(await servers.prove('new')).toBe('a, which has old, b, which does not answer (connection refused)');
  servers.loaded.set('a', 'new').set('b', 'new');
  await servers.prove('new');
  expect(await servers.prove('new')).toBe('proved');

  servers.put('b', 'another');
  servers.loaded.set('b', 'old');
  expect(await servers.prove('new')).toBe('all answers');
  expect(await servers.prove('new')).toBe('b, which has old');
});

it('does not take an answer about one version for another one', async () => {
  const servers = new Servers();
  servers.put('a');
  servers.loaded.set('a', 'new');
  await servers.prove('new');
  expect(await servers.prove('new')).toBe('proved');
  expect(await servers.prove('newer')).toBe('all answers');
  expect(await servers.prove('newer')).toBe('a, which has new');
});

it('has kubelets bring the files of the version', async () => {
  const servers = new Servers();
  servers.put('a');
  await servers.prove('0123456789abcdef');
  const annotations = servers.objects.get(Pod, 'a')?.metadata.annotations ?? {};
  expect(Object.values(annotations)).toEqual(['0123456789ab']);
});
