import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../../constructs/api/status.ts';
import type { KubeClient } from '../../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { type ConditionUpdates, conditionUpdate } from '../../../../reconciler/engine/condition-update.ts';
import { StatusWriter, type Transition } from '../../../../reconciler/reconcile/status/writer.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type AnyObject, hostedControlPlaneObject } from '../../../support/scope.ts';

interface Written extends KubeObject {
  readonly status: { readonly conditions: readonly Condition[] } & Readonly<Record<string, unknown>>;
}

/** Accepts statuses as a server would and returns them. */
class StatusServer implements Pick<KubeClient, 'apply'> {
  readonly written: Written[] = [];
  isDown = false;

  async apply<T extends KubeObject = KubeObject>(object: KubeObject): Promise<T> {
    if (this.isDown) throw new Error('no answer');
    this.written.push(object as Written);
    return object as T;
  }
}

const begin = Date.parse('2026-11-21T12:00:00Z');
const fields = { externalManagedControlPlane: true, replicas: 0 };
const updates: ConditionUpdates = {
  Ready: conditionUpdate('False', 'WaitingForPods', 'not yet'),
  Paused: conditionUpdate('False', 'NotPaused'),
};
const others = {
  type: 'ManagedByKro',
  status: 'True',
  reason: 'Theirs',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

function writer() {
  const clock = new ManualClock(begin);
  const server = new StatusServer();
  const remembered: KubeObject[] = [];
  const transitions: Transition[] = [];
  const statusWriter = new StatusWriter({
    client: server,
    management: { remember: (object) => void remembered.push(object) },
    clock,
    onTransition: (transition) => transitions.push(transition),
  });
  return { statusWriter, clock, server, remembered, transitions };
}

/** The object after its status has been written once. */
async function writtenOnce(setup = writer()): Promise<ReturnType<typeof writer> & { object: AnyObject & Written }> {
  await setup.statusWriter.write(hostedControlPlaneObject(), fields, updates);
  const object = hostedControlPlaneObject({ status: setup.server.written[0]?.status }) as AnyObject & Written;
  setup.transitions.length = 0;
  return { ...setup, object };
}

describe('writing a status', () => {
  it('applies exactly fields and conditions, in their order, and remembers the answer', async () => {
    const { statusWriter, server, remembered } = writer();
    await statusWriter.write(hostedControlPlaneObject(), fields, updates);
    const common = { observedGeneration: 1, lastTransitionTime: '2026-11-21T12:00:00Z' };
    const { apiVersion, kind, metadata } = hostedControlPlaneObject();
    expect(server.written).toEqual([
      {
        apiVersion,
        kind,
        metadata: { name: metadata.name, namespace: metadata.namespace },
        status: {
          ...fields,
          observedGeneration: 1,
          summary: 'WaitingForPods',
          conditions: [
            { type: 'Ready', status: 'False', reason: 'WaitingForPods', message: 'not yet', ...common },
            { type: 'Paused', status: 'False', reason: 'NotPaused', message: '', ...common },
          ],
        },
      },
    ]);
    expect(remembered).toEqual(server.written);
  });

  it('writes nothing if nothing has changed, whatever conditions others have added', async () => {
    const { statusWriter, server, clock, transitions, object } = await writtenOnce();
    await clock.advance(60_000);
    const conditions = [others, ...object.status.conditions];
    await statusWriter.write({ ...object, status: { ...object.status, conditions } }, fields, updates);
    expect(server.written).toHaveLength(1);
    expect(transitions).toEqual([]);
  });

  it.each<[string, object, ConditionUpdates]>([
    ['a field', { ...fields, replicas: 1 }, updates],
    ['a new field', { ...fields, version: 'v1.36.3' }, updates],
    ['a message', fields, { ...updates, Ready: conditionUpdate('False', 'WaitingForPods', 'still not') }],
    ['a new condition', fields, { ...updates, Available: conditionUpdate('True', 'Available') }],
  ])('writes if %s has changed, and keeps the transition time of other conditions', async (_, changed, decided) => {
    const { statusWriter, server, clock, object } = await writtenOnce();
    await clock.advance(60_000);
    await statusWriter.write(object, changed, decided);
    expect(server.written).toHaveLength(2);
    const ready = server.written[1]?.status.conditions.find(({ type }) => type === 'Ready');
    expect(ready?.lastTransitionTime).toBe('2026-11-21T12:00:00Z');
  });

  it('never applies conditions of others, because it would own them then', async () => {
    const { statusWriter, server, object } = await writtenOnce();
    const conditions = [...object.status.conditions, others];
    await statusWriter.write(
      { ...object, status: { ...object.status, conditions } },
      { ...fields, replicas: 1 },
      updates,
    );
    expect(server.written[1]?.status.conditions.map(({ type }) => type)).toEqual(['Ready', 'Paused']);
  });

  it('drops its own fields and conditions that are no longer reported', async () => {
    const { statusWriter, server, object } = await writtenOnce();
    const { Paused } = updates;
    await statusWriter.write(object, { externalManagedControlPlane: true }, Paused ? { Paused } : {});
    expect(server.written[1]?.status).not.toHaveProperty('replicas');
    expect(server.written[1]?.status.conditions.map(({ type }) => type)).toEqual(['Paused']);
  });

  it('truncates a message to the limit of the schema, and does not write it again and again', async () => {
    const { statusWriter, server } = writer();
    const long = { Ready: conditionUpdate('False', 'WaitingForPods', 'x'.repeat(5000)) };
    await statusWriter.write(hostedControlPlaneObject(), fields, long);
    const message = server.written[0]?.status.conditions[0]?.message ?? '';
    expect(message).toHaveLength(1024);
    expect(message).toMatch(/x\.\.\.$/);
    await statusWriter.write(hostedControlPlaneObject({ status: server.written[0]?.status }), fields, long);
    expect(server.written).toHaveLength(1);
  });

  it('calls onTransition for conditions with another status or reason, after they were written', async () => {
    const { statusWriter, server, transitions, object } = await writtenOnce();
    const changed: ConditionUpdates = {
      Ready: conditionUpdate('False', 'WaitingForCluster', 'no owner'),
      Available: conditionUpdate('True', 'Available'),
      Paused: conditionUpdate('False', 'NotPaused', 'only another message'),
    };
    server.isDown = true;
    await expect(statusWriter.write(object, fields, changed)).rejects.toThrow('no answer');
    expect(transitions).toEqual([]);
    server.isDown = false;
    await statusWriter.write(object, fields, changed);
    expect(
      transitions.map(({ object: { metadata }, type, update: { status, reason } }) => [
        metadata.name,
        type,
        status,
        reason,
      ]),
    ).toEqual([
      ['c1-x7k2p', 'Ready', 'False', 'WaitingForCluster'],
      ['c1-x7k2p', 'Available', 'True', 'Available'],
    ]);
  });
});

describe('patching a status', () => {
  it('changes the given conditions, and keeps everything else as of the generation that it was computed for', async () => {
    const { statusWriter, server, clock, transitions, object } = await writtenOnce();
    await clock.advance(60_000);
    await statusWriter.patch(
      { ...object, metadata: { ...object.metadata, generation: 2 } },
      { Paused: conditionUpdate('True', 'Paused', 'why') },
    );
    expect(server.written[1]?.status).toEqual({
      ...object.status,
      observedGeneration: 1,
      summary: 'Paused',
      conditions: [
        object.status.conditions[0],
        {
          type: 'Paused',
          status: 'True',
          reason: 'Paused',
          message: 'why',
          observedGeneration: 2,
          lastTransitionTime: '2026-11-21T12:01:00Z',
        },
      ],
    });
    expect(transitions.map(({ type }) => type)).toEqual(['Paused']);
  });

  it('reports the generation that the operator has decided about', async () => {
    const { statusWriter, server, object } = await writtenOnce();
    const refused = { Ready: conditionUpdate('False', 'InvalidConfiguration', 'spec.version: no') };
    const changed = { ...object, metadata: { ...object.metadata, generation: 2 } };
    await statusWriter.patch(changed, refused, { isObserved: true });
    expect(server.written[1]?.status).toMatchObject({
      observedGeneration: 2,
      conditions: [
        { type: 'Ready', reason: 'InvalidConfiguration', observedGeneration: 2 },
        { type: 'Paused', observedGeneration: 1 },
      ],
    });
  });

  it('creates a status if there is none', async () => {
    const { statusWriter, server } = writer();
    await statusWriter.patch(hostedControlPlaneObject(), {
      Ready: conditionUpdate('False', 'WaitingForCluster', 'no owner'),
    });
    expect(server.written[0]?.status.conditions).toMatchObject([{ type: 'Ready', reason: 'WaitingForCluster' }]);
  });
});
