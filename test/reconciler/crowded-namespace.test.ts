import { expect, it } from 'vitest';
import { ConfigMap, HostedControlPlane, HostedControlPlaneComponentTemplate } from '../../constructs/api/resources.ts';
import { objectLabels } from '../../constructs/cluster/labels.ts';
import { comparableObjects } from '../support/loop/comparable-objects.ts';
import { OperatorProcess } from '../support/loop/operator-process.ts';
import { completeCluster } from '../support/loop/scenario.ts';

const names = Array.from({ length: 20 }, (_, index) => `stuffing-${index}`);
const somebody = { fieldManager: 'somebody' };

const text = 'x'.repeat(1024 * 1024);

it.each([
  ['objects of control planes', ConfigMap, { data: { text } }],
  ['templates', HostedControlPlaneComponentTemplate, { spec: { text } }],
])(
  'a namespace that is filled with %s is left as it is, says so, and goes on when it is emptied',
  async (_, resource, content) => {
    const management = await completeCluster();
    const { user, name, place } = management;
    const { namespace } = place;
    const ready = () => management.conditions.find(({ type }) => type === 'Ready');
    let operator = await OperatorProcess.start(management, undefined, { heapBytes: 0 });
    await operator.untilSettled();
    expect(ready()).toMatchObject({ status: 'True' });

    const { apiVersion, kind } = resource;
    for (const stuffing of names) {
      const metadata = { namespace, name: stuffing, labels: objectLabels(place.cluster, 'etcd') };
      await user.create({ apiVersion, kind, metadata, ...content }, somebody);
    }
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
