import { describe, expect, it } from 'vitest';
import { clusterNameLabel, keyFinalizer } from '../../../constructs/api/group.ts';
import {
  Cluster,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
  Pod,
  type Resource,
  Secret,
} from '../../../constructs/api/resources.ts';
import { Controller } from '../../../reconciler/operator/controller.ts';
import type { OnChange } from '../../../reconciler/reconcile/memory.ts';
import { errorFromStatus } from '../../../reconciler/kube/errors.ts';
import type { ObjectChange } from '../../../reconciler/kube/object-cache.ts';
import type { KubeObject, ObjectMeta } from '../../../reconciler/kube/object.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { detached, inSpan } from '../../../reconciler/kube/span.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { clusterObjectWith, hostedControlPlaneObject, ownedByCluster } from '../../support/scope.ts';

type Handler = (resource: Resource, change: ObjectChange<KubeObject>) => void;

const resyncMs = 10 * 60_000;
const key = 'team/c1-x7k2p';
const hosted = hostedControlPlaneObject();

/** A controller whose watches report the events of the test, and whose reconciles end at once. */
function controller(reconcile: (key: string) => Promise<Date | undefined> = async () => undefined) {
  const clock = new ManualClock();
  const reconciled: string[] = [];
  const lines: string[] = [];
  const ended: string[] = [];
  let handleChange: Handler = () => {
    throw new Error('the controller does not listen yet');
  };
  let reportAround: (key: string) => void = () => {
    throw new Error('the controller does not listen yet');
  };
  let reportRoom: (namespace: string) => void = () => {
    throw new Error('the controller does not listen to the room of namespaces yet');
  };
  let report: OnChange = () => {
    throw new Error('the controller does not listen to the reconciler yet');
  };
  const listed: KubeObject[] = [];
  let reportReturned: () => void = () => {
    throw new Error('the controller does not listen to the API server yet');
  };
  const started = new Controller({
    management: {
      onChange: (handler) => {
        handleChange = handler;
      },
      onSharedResourcesChange: (handler) => {
        reportAround = handler;
      },
      onReturned: (handler) => {
        reportReturned = handler;
      },
      onRoomChange: (handler) => {
        reportRoom = handler;
      },
      list: ({ kind }) => listed.filter((object) => object.kind === kind),
      get: ({ kind }, { namespace, name }) =>
        listed.find(
          ({ kind: of, metadata }) => of === kind && metadata.name === name && metadata.namespace === namespace,
        ),
    },
    reconciler: {
      reconcile: async (given) => {
        reconciled.push(given);
        return reconcile(given);
      },
      onChange: (handler) => {
        report = handler;
      },
    },
    concurrency: 2,
    clock,
    onReconciled: (result) => ended.push(result),
    log: createLogger({ format: 'json', level: 'info' }, { write: (line) => lines.push(line) }),
  });
  started.start();
  /** Advances the time in which changes are gathered. */
  const gathered = async () => {
    await clock.advance(20);
  };
  const afterChange = async (resource: Resource, object: KubeObject, type: 'added' | 'deleted' = 'added') => {
    reconciled.length = 0;
    handleChange(resource, { type, object });
    await gathered();
    return [...reconciled];
  };
  const afterUpdate = async (old: KubeObject, object: KubeObject) => {
    reconciled.length = 0;
    handleChange(HostedControlPlane, { type: 'updated', old, object });
    await gathered();
    return [...reconciled];
  };
  const afterSharedChange = async (given: string) => {
    reconciled.length = 0;
    reportAround(given);
    await gathered();
    return [...reconciled];
  };
  const afterRoomChange = async (given: string) => {
    reconciled.length = 0;
    reportRoom(given);
    await gathered();
    return [...reconciled];
  };
  const afterReport = async (...given: Parameters<OnChange>) => {
    reconciled.length = 0;
    report(...given);
    await gathered();
    return [...reconciled];
  };
  return {
    controller: started,
    clock,
    reconciled,
    ended,
    lines,
    listed,
    afterChange,
    afterUpdate,
    afterSharedChange,
    afterRoomChange,
    afterReport,
    returned: () => reportReturned(),
  };
}

function labelled({ apiVersion, kind }: Resource, metadata: Partial<ObjectMeta> = {}): KubeObject {
  const labels = { 'cluster.x-k8s.io/cluster-name': 'c1' };
  return { apiVersion, kind, metadata: { name: 'x', namespace: 'team', labels, ...metadata } };
}

describe('a change', () => {
  it.each<[string, Resource, KubeObject, 'added' | 'deleted', string[]]>([
    ['of the object itself', HostedControlPlane, hosted, 'added', [key]],
    ['of its Cluster', Cluster, clusterObjectWith(), 'added', [key]],
    ['of a pod of its Cluster', Pod, labelled(Pod), 'added', [key]],
    ['of a Secret of its Cluster that is gone', Secret, labelled(Secret), 'deleted', [key]],
    ['of another Cluster', Cluster, clusterObjectWith({ metadata: { name: 'c2' } }), 'added', []],
    [
      'of a Cluster of that name elsewhere',
      Cluster,
      clusterObjectWith({ metadata: { namespace: 'other' } }),
      'added',
      [],
    ],
    ['of a pod elsewhere', Pod, labelled(Pod, { namespace: 'other' }), 'added', []],
    ['of a pod without a Cluster', Pod, labelled(Pod, { labels: {} }), 'added', []],
  ])('%s causes a reconcile of the HostedControlPlane it belongs to', async (_, resource, object, type, expected) => {
    const { afterChange } = controller();
    await afterChange(HostedControlPlane, hosted);
    expect(await afterChange(resource, object, type)).toEqual(expected);
  });

  it('of a component template causes a reconcile of the HostedControlPlanes that refer to it', async () => {
    const { afterChange, listed } = controller();
    const named = (name: string, template: string, ns = 'team') =>
      hostedControlPlaneObject({
        metadata: { name, namespace: ns },
        spec: { componentTemplateRef: { name: template } },
      });
    listed.push(hosted, named('a', 'shared'), named('b', 'other'), named('c', 'shared', 'elsewhere'));
    const { apiVersion, kind } = HostedControlPlaneComponentTemplate;
    const template = { apiVersion, kind, metadata: { name: 'shared', namespace: 'team' } };
    expect(await afterChange(HostedControlPlaneComponentTemplate, template)).toEqual(['team/a']);
  });

  it('of its status causes a reconcile if another controller has written a condition', async () => {
    const { afterUpdate } = controller();
    const withConditions = (...conditions: object[]) => hostedControlPlaneObject({ status: { conditions } });
    const ours = (status: string) => ({ type: 'Ready', status });
    const theirs = (status: string) => ({ type: 'example.org/NetworkReady', status });
    expect(await afterUpdate(withConditions(ours('False')), withConditions(ours('True')))).toEqual([]);
    expect(await afterUpdate(withConditions(theirs('False')), withConditions(theirs('True')))).toEqual([key]);
  });

  it('of a Cluster whose control plane was not observed yet waits for it', async () => {
    const { afterChange } = controller();
    expect(await afterChange(Cluster, clusterObjectWith())).toEqual([]);
    expect(await afterChange(HostedControlPlane, hosted)).toEqual([key]);
  });

  it('reaches the object once a Cluster owns it', async () => {
    const { afterChange } = controller();
    await afterChange(HostedControlPlane, hostedControlPlaneObject({ metadata: { ownerReferences: [] } }));
    expect(await afterChange(Pod, labelled(Pod))).toEqual([]);
    await afterChange(HostedControlPlane, hosted);
    expect(await afterChange(Pod, labelled(Pod))).toEqual([key]);
  });

  it('reaches every object that has the Cluster as owner, so that a wrong one blocks no other', async () => {
    const { afterChange } = controller();
    await afterChange(HostedControlPlane, hosted);
    await afterChange(
      HostedControlPlane,
      hostedControlPlaneObject({ metadata: { name: 'false', ownerReferences: [ownedByCluster] } }),
    );
    expect(await afterChange(Pod, labelled(Pod))).toEqual([key, 'team/false']);
  });

  it('reaches only the object that the Cluster owns now, however often its owner was changed', async () => {
    const { afterChange, afterUpdate } = controller();
    const ownedBy = (name: string) =>
      hostedControlPlaneObject({ metadata: { ownerReferences: [{ ...ownedByCluster, name }] } });
    await afterChange(HostedControlPlane, ownedBy('c1'));
    await afterUpdate(ownedBy('c1'), ownedBy('c2'));
    expect(await afterChange(Pod, labelled(Pod))).toEqual([]);
    expect(await afterChange(Pod, labelled(Pod, { labels: { [clusterNameLabel]: 'c2' } }))).toEqual([key]);
  });

  it('of a shared resource causes a reconcile of the objects that use it', async () => {
    expect(await controller().afterSharedChange(key)).toEqual([key]);
  });

  it('of the room of a namespace causes a reconcile of all that is there, also of keys whose control plane is gone', async () => {
    const { afterRoomChange, listed } = controller();
    const ending = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [keyFinalizer] };
    const elsewhere = { namespace: 'other' };
    listed.push(
      hosted,
      hostedControlPlaneObject({ metadata: elsewhere }),
      labelled(Secret, { ...ending, labels: { [clusterNameLabel]: 'gone' } }),
      labelled(Secret, { ...ending, ...elsewhere }),
      labelled(Secret, { finalizers: [keyFinalizer] }),
    );
    expect(await afterRoomChange('team')).toEqual([key, 'team/gone']);
  });

  it('in a hosted cluster causes a reconcile of its control plane', async () => {
    const { afterReport } = controller();
    expect(await afterReport(key, 'inside')).toEqual([key]);
  });

  it('of a deleted object is handled once more, and no other event leads to it any longer', async () => {
    const { afterChange } = controller();
    await afterChange(HostedControlPlane, hosted);
    expect(await afterChange(HostedControlPlane, hosted, 'deleted')).toEqual([key]);
    expect(await afterChange(Pod, labelled(Pod))).toEqual([]);
  });
});

describe('the clock', () => {
  it('requeues every object every ten minutes, at most a few of them at a time', async () => {
    const { clock, listed, reconciled } = controller();
    const names = Array.from({ length: 300 }, (_, index) => `c${index}`);
    listed.push(...names.map((name) => hostedControlPlaneObject({ metadata: { name, namespace: 'team' } })));
    let most = 0;
    for (let minute = 0; minute < 10; minute++)
      for (let seconds = 0; seconds < 60; seconds += 10) {
        const before = reconciled.length;
        await clock.advance(10_000);
        most = Math.max(most, reconciled.length - before);
      }
    await clock.advance(1_000);
    expect([...reconciled].sort()).toEqual(names.map((name) => `team/${name}`).sort());
    expect(most).toBeLessThan(20);
    await clock.advance(resyncMs);
    expect(reconciled).toHaveLength(600);
  });

  it('requeues an object when its reconcile has requested that', async () => {
    const dates = [new Date(Date.parse('2026-01-01T00:00:05Z'))];
    const { clock, afterChange, reconciled } = controller(async () => dates.shift());
    await afterChange(HostedControlPlane, hosted);
    await clock.advance(4_979);
    expect(reconciled).toEqual([key]);
    await clock.advance(1);
    expect(reconciled).toEqual([key, key]);
  });

  it('limits the rate of a reconcile that requests a time in the past', async () => {
    const { clock, afterChange, reconciled } = controller(async () => new Date(0));
    await afterChange(HostedControlPlane, hosted);
    await clock.advance(1_000);
    expect(reconciled).toHaveLength(11);
  });

  it.each<[string, 'inside' | undefined, number, number]>([
    ['of a control plane', undefined, 100, 1_000],
    ['in a hosted cluster', 'inside', 30, 10_000],
  ])('limits the rate at which changes %s that never end cause reconciles', async (_, where, burst, intervalMs) => {
    const { afterReport, clock, reconciled } = controller();
    let count = 0;
    for (let passed = 0; passed < 120_000; passed += 20) count += (await afterReport(key, where)).length;
    expect(count).toBeGreaterThanOrEqual(burst);
    expect(count).toBeLessThanOrEqual(burst + 120_000 / intervalMs);
    reconciled.length = 0;
    await clock.advance(2 * intervalMs);
    expect(reconciled.length).toBeLessThan(3);
  });

  it('lets changes of a control plane wait for no change in its hosted cluster', async () => {
    const { afterReport } = controller();
    for (let count = 0; count < 60; count += 1) await afterReport(key, 'inside');
    expect(await afterReport(key, 'inside')).toEqual([]);
    expect(await afterReport(key)).toEqual([key]);
  });

  it('retries failed reconciles at once when the API server answers again', async () => {
    let isAway = true;
    const { clock, afterChange, reconciled, returned } = controller(async () => {
      if (isAway) throw new Error('apply Secret a/b: connection refused');
      return undefined;
    });
    await afterChange(HostedControlPlane, hosted);
    await clock.advance(300_000);
    reconciled.length = 0;
    isAway = false;
    returned();
    await settled();
    expect(reconciled).toEqual([key]);
  });

  it.each([
    ['each 10 s if the API server cannot store anything', 'etcdserver: request timed out', [10, 16]],
    ['with back-off if a webhook refuses its object alone', 'failed calling webhook "a.example.com"', [1, 3]],
  ] as const)('tries one failed reconcile %s', async (_, message, [least, most]) => {
    const { clock, afterChange, reconciled } = controller(async () => {
      throw errorFromStatus('apply Secret a/b', 500, { message });
    });
    await afterChange(HostedControlPlane, hosted);
    await clock.advance(600_000);
    reconciled.length = 0;
    await clock.advance(120_000);
    expect(reconciled.length).toBeGreaterThanOrEqual(least);
    expect(reconciled.length).toBeLessThanOrEqual(most);
  });

  it('requeues a failed reconcile, and logs one line with no more than its message', async () => {
    let isBroken = true;
    const { clock, afterChange, reconciled, ended, lines } = controller(async () => {
      if (isBroken) throw Object.assign(new Error('apply Secret a/b: refused'), { body: 'content' });
      return undefined;
    });
    await afterChange(HostedControlPlane, hosted);
    isBroken = false;
    await clock.advance(1000);
    expect(reconciled).toEqual([key, key]);
    expect(ended).toEqual(['error', 'success']);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'warn', hostedControlPlane: key, error: 'apply Secret a/b: refused' },
    ]);
    expect(lines.join('')).not.toContain('content');
  });
});

describe('a reconcile', () => {
  it('that never ends stands still from its last step on, although others go on', async () => {
    const hung = { ...hosted, metadata: { ...hosted.metadata, name: 'hung' } };
    const call = Promise.withResolvers<void>();
    const reconcile = async (given: string): Promise<undefined> => {
      if (given === 'team/hung') await inSpan('call', {}, () => call.promise).then(() => new Promise(() => {}));
    };
    const { controller: started, clock, afterChange } = controller(reconcile);
    expect(started.stillest).toBeUndefined();
    await afterChange(HostedControlPlane, hung);
    await clock.advance(60_000);
    await afterChange(HostedControlPlane, hosted);
    expect(started.stillest).toEqual({ key: 'team/hung', ms: 60_020 });
    call.resolve();
    await settled();
    await clock.advance(30_000);
    expect(started.stillest).toEqual({ key: 'team/hung', ms: 30_000 });
    expect(started.undoneMs).toBe(0);
  });

  it('that takes long and goes on does not stand still, and what it has begun beside it does not count', async () => {
    const calls: (() => void)[] = [];
    const call = () => inSpan('call', {}, () => new Promise<void>((resolve) => calls.push(resolve)));
    const {
      controller: started,
      clock,
      afterChange,
    } = controller(async () => {
      await call();
      void detached(call);
      await call();
      return undefined;
    });
    const end = async () => {
      await clock.advance(60_000);
      calls.shift()?.();
      await settled();
      return started.stillest;
    };
    await afterChange(HostedControlPlane, hosted);
    expect(await end()).toEqual({ key, ms: 0 });
    expect(await end()).toEqual({ key, ms: 60_000 });
    expect(await end()).toBeUndefined();
  });
});

it('finishes running reconciles when it stops, and starts no more', async () => {
  const ending = Promise.withResolvers<undefined>();
  const { controller: stopping, afterChange, clock, reconciled, listed } = controller(() => ending.promise);
  listed.push(hosted);
  await afterChange(HostedControlPlane, hosted);
  let isStopped = false;
  const stopped = stopping.stop().then(() => (isStopped = true));
  await settled();
  expect(isStopped).toBe(false);
  ending.resolve(undefined);
  await stopped;
  await afterChange(Pod, labelled(Pod));
  await clock.advance(2 * resyncMs);
  expect(reconciled).toEqual([]);
  expect(clock.pending).toBe(0);
});
