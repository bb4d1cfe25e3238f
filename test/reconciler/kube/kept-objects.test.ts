import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { EventRecorder } from '../../../reconciler/kube/events.ts';
import { Informer } from '../../../reconciler/kube/informer.ts';
import { InformerSet } from '../../../reconciler/kube/informer-set.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';
import { emptyHostedCluster } from '../../support/loop/memory-cluster.ts';
import type { KubeRequest } from '../../../reconciler/kube/request.ts';
import type { Transport } from '../../../reconciler/kube/transport.ts';
import { readWatch } from '../../../reconciler/kube/watch.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const us = { fieldManager: 'us' };

function configMap(name: string, data: Readonly<Record<string, string>> = {}): KubeObject & { readonly data: object } {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default', labels: { app: 'hcp' } },
    data,
  };
}

/** Whether anything still refers to what the function returns. */
async function isKept(work: () => Promise<object>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const reference = new WeakRef(await work());
  await setImmediate();
  collectGarbage();
  return reference.deref() !== undefined;
}

describe('of the objects of a cluster', () => {
  it('an event keeps only the reference', async () => {
    const clock = new ManualClock();
    const client = new MemoryClient(emptyHostedCluster(clock), administrator('keeper'));
    const recorder = new EventRecorder({ client, clock, reportingController: 'us', reportingInstance: 'pod' });
    const record = async (): Promise<object> => {
      const object = configMap('b');
      recorder.record(object, { type: 'Normal', reason: 'Renewed', action: 'Renew', note: 'renewed' });
      await recorder.flush();
      return object;
    };
    expect(await isKept(record)).toBe(false);
  });

  it('a watch keeps no chunk of what it has read while it waits for more', async () => {
    const call = { verb: 'watch', target: 'configmaps', resource: 'configmaps' } as KubeRequest;
    const line = JSON.stringify({ type: 'ADDED', object: configMap('b') });
    const wait = async (): Promise<object> => {
      const last = Buffer.from(`\n${line}\n`);
      const chunks = [Buffer.from(`${line}\n${line.slice(0, 20)}`), Buffer.from(line.slice(20)), last];
      const silence = { clock: new ManualClock(), limitMs: 1_000 };
      const body = { next: async () => ({ done: false as const, value: chunks.shift() ?? (await never) }) };
      const limits = { maxBytes: 1_000, values: { values: 100, depth: 10 } };
      const held = { hold: async () => {}, release: () => {} };
      const reading = { ...limits, held, spend: async () => {}, arrived: () => {} };
      const stream = { body: { [Symbol.asyncIterator]: () => body }, ...reading };
      const transport = { stream: async () => ({ ...stream, failed: (cause: unknown) => cause, release: () => {} }) };
      const events = readWatch(transport as Pick<Transport, 'stream'> as Transport, call, silence);
      for (const _ of [1, 2, 3]) expect((await events.next()).value).toEqual(JSON.parse(line));
      waiting.push(events.next());
      return last;
    };
    const waiting: Promise<unknown>[] = [];
    const never = new Promise<Buffer>(() => {});
    expect(await isKept(wait)).toBe(false);
    expect(waiting).toHaveLength(1);
  });

  describe('a response to a write', () => {
    const clock = new ManualClock();
    const client = new MemoryClient(emptyHostedCluster(clock), administrator('keeper'));
    const informer = new Informer({ client, clock, resource: ConfigMap, fieldManager: us.fieldManager });
    const known = new InformerSet([informer]);
    const write = (name: string): Promise<KubeObject> => client.apply(configMap(name), us);

    it.each([
      ['arrives before', false],
      ['arrives after', true],
    ])('is dropped once the watch has seen the object, when it %s the event', async (_, eventFirst) => {
      const name = eventFirst ? 'late' : 'early';
      await known.start();
      const remember = async (): Promise<object> => {
        const answer = structuredClone(await write(name));
        if (eventFirst) await settled();
        known.remember(answer);
        await settled();
        return answer;
      };
      expect(await isKept(remember)).toBe(false);
      expect(known.get(ConfigMap, { name, namespace: 'default' })).toBe(informer.get({ name, namespace: 'default' }));
    });

    it('has its managedFields in the cache as a fingerprint', async () => {
      await known.start();
      await write('fingerprint');
      await settled();
      const { managedFields } = informer.get({ name: 'fingerprint', namespace: 'default' })?.metadata ?? {};
      const fingerprint: unknown = expect.stringMatching(/^[\w-]{22}$/);
      expect(managedFields).toEqual([{ manager: 'us', operation: 'Apply', fingerprint, applied: fingerprint }]);
    });
  });
});
