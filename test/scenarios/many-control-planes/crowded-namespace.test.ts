import { expect, it } from 'vitest';
import {
  ConfigMap,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  type Resource,
} from '../../../constructs/api/resources.ts';
import { pausedAnnotation } from '../../../constructs/api/group.ts';
import { objectLabels } from '../../../constructs/cluster/labels.ts';
import { comparableObjects } from '../../support/loop/comparable-objects.ts';
import { Life } from '../../support/loop/life.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster } from '../../support/loop/scenario.ts';

const names = Array.from({ length: 20 }, (_, index) => `stuffing-${index}`);
const somebody = { fieldManager: 'somebody' };

const text = 'x'.repeat(1024 * 1024);

async function fill({ user, place }: MemoryCluster, { apiVersion, kind }: Resource, content: object): Promise<void> {
  const { namespace } = place;
  for (const stuffing of names) {
    const metadata = { namespace, name: stuffing, labels: objectLabels(place.cluster, 'etcd') };
    await user.create({ apiVersion, kind, metadata, ...content }, somebody);
  }
}

it.each([
  ['objects of control planes', ConfigMap, { data: { text } }],
  ['templates', HostedControlPlaneComponentTemplate, { spec: { text } }],
])(
  'a namespace that is filled with %s is left as it is, says so, and goes on when it is emptied',
  async (_, resource, content) => {
    const management = await completeCluster();
    const { user, name } = management;
    const { namespace } = management.place;
    const ready = () => management.conditions.find(({ type }) => type === 'Ready');
    let operator = await OperatorProcess.start(management, undefined, { heapBytes: 0 });
    await operator.untilSettled();
    expect(ready()).toMatchObject({ status: 'True' });

    await fill(management, resource, content);
    await operator.untilSettled();
    const tooLarge = {
      status: 'False',
      reason: 'NamespaceTooLarge',
      message: expect.stringMatching(/need more memory of the operator than the [24] MiB that it may have/),
    };
    expect(ready()).toMatchObject(tooLarge);

    // A new process does not know what it has left out: it must not take that for missing.
    await operator.stop();
    const components = () =>
      Object.entries(comparableObjects(management)).filter(([object]) => !object.startsWith(HostedControlPlane.kind));
    const before = components();
    operator = await OperatorProcess.start(management, undefined, { heapBytes: 0 });
    await user.mergePatch(
      HostedControlPlane,
      name,
      { spec: { deployment: { scheduler: { args: { v: '2' } } } } },
      somebody,
    );
    await operator.untilSettled();
    expect(ready()).toMatchObject(tooLarge);
    expect(components()).toEqual(before);

    for (const stuffing of names) await user.delete(resource, { namespace, name: stuffing });
    await management.clock.advance(5 * 60_000);
    await operator.untilSettled();
    expect(ready()).toMatchObject({ status: 'True' });
    expect(components()).not.toEqual(before);
    expect(operator.errors).toEqual([]);
    await operator.stop();
  },
);

it('a control plane whose object is removed from a crowded namespace by force is left by the watches and loops of the operator', async () => {
  const management = await completeCluster();
  const { user, name, clock } = management;
  const asked: string[] = [];
  const life = new Life({ before: (action) => void asked.push(action) });
  const operator = await OperatorProcess.start(management, life, { heapBytes: 0 });
  await operator.untilSettled();
  await fill(management, ConfigMap, { data: { text } });
  await operator.untilSettled();
  const askedWithin = async (ms: number) => {
    asked.length = 0;
    await clock.advance(ms);
    await operator.untilObserved();
    return asked.filter((action) => /^ask etcd$| in the hosted cluster$/.test(action));
  };
  expect(await askedWithin(2 * 60_000)).not.toEqual([]);

  await user.delete(HostedControlPlane, name);
  await user.mergePatch(HostedControlPlane, name, { metadata: { finalizers: null } }, somebody);
  await operator.untilObserved();
  await operator.reconcile();
  expect(await askedWithin(2 * 60_000)).toEqual([]);
  await operator.stop();
});

it('a paused control plane in a crowded namespace is left alone, also by the loops of the operator', async () => {
  const management = await completeCluster();
  const { user, name, clock } = management;
  const asked: string[] = [];
  const life = new Life({ before: (action) => void asked.push(action) });
  const operator = await OperatorProcess.start(management, life, { heapBytes: 0 });
  await operator.untilSettled();
  await fill(management, ConfigMap, { data: { text } });
  await user.mergePatch(HostedControlPlane, name, { metadata: { annotations: { [pausedAnnotation]: '' } } }, somebody);
  await operator.untilSettled();
  const condition = (of: string) => management.conditions.find(({ type }) => type === of);
  expect(condition('Paused')).toMatchObject({ status: 'True' });
  expect(condition('Ready')).not.toMatchObject({ reason: 'NamespaceTooLarge' });
  asked.length = 0;
  await clock.advance(2 * 60_000);
  await operator.untilObserved();
  expect(asked.filter((action) => action === 'ask etcd')).toEqual([]);
  await operator.stop();
});
