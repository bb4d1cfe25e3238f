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
import { emptyHostedCluster } from '../../support/loop/memory-cluster.ts';
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
    const client = new MemoryClient(emptyHostedCluster(clock));
    const recorder = new EventRecorder({ client, clock, reportingController: 'us', reportingInstance: 'pod' });
    const record = async (): Promise<object> => {
      const object = configMap('b');
      recorder.record(object, { type: 'Normal', reason: 'Renewed', action: 'Renew', note: 'renewed' });
      await recorder.flush();
      return object;
    };
    expect(await isKept(record)).toBe(false);
  });

  describe('a response to a write', () => {
    const clock = new ManualClock();
    const client = new MemoryClient(emptyHostedCluster(clock));
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
      expect(managedFields).toEqual([{ manager: 'us', operation: 'Apply', fingerprint }]);
    });
  });
});
