import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Deployment, Event, HostedControlPlane } from '../../../../constructs/api/resources.ts';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { objectKey } from '../../../../reconciler/kube/object.ts';
import type { Conducts, InHand } from '../../../../reconciler/reconcile/quarantine/judge.ts';
import type { Left, Notes } from '../../../../reconciler/reconcile/quarantine/notes.ts';
import { Quarantine } from '../../../../reconciler/reconcile/quarantine/quarantine.ts';
import { createLogger } from '../../../../reconciler/engine/log.ts';
import { completeCluster } from '../../../support/loop/scenario.ts';
import { ourName, type MemoryCluster } from '../../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../../support/loop/operator-process.ts';
import { settled } from '../../../support/manual-clock.ts';
import type { StoredObject } from '../../../support/memory-objects.ts';
import { clusterName } from '../../../support/scope.ts';

const log = createLogger({ format: 'json', level: 'error' }, { write: () => {} });
const key = objectKey(ourName);
const other = 'other-team/other';
const minute = 60_000;

let complete: MemoryCluster;
beforeAll(async () => {
  complete = await completeCluster();
});

let managementCluster: MemoryCluster;
let operator: OperatorProcess;
let kept: Conducts;
let trials: { readonly started: string; readonly end: (hasBehaved: boolean) => void }[];
beforeEach(() => {
  managementCluster = complete.copy();
  kept = {};
  trials = [];
});
afterEach(() => operator.stop());

const notes: Notes = { take: () => () => {}, touch: () => {}, keep: (conducts) => (kept = conducts), close: () => {} };

function quarantineAfter(left: Left): Quarantine {
  const { clock } = managementCluster;
  return new Quarantine({
    notes,
    left,
    clock,
    log,
    startSecondProcess: (of, cluster) => {
      const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
      trials.push({ started: `${of} of ${cluster}`, end });
      return { ended, stop: () => end(false) };
    },
  });
}

/** Starts the process after ends with these in hand. */
async function startAfter(...ends: InHand[][]): Promise<Quarantine> {
  let quarantine = quarantineAfter({ inHand: undefined, conducts: {} });
  for (const inHand of ends) quarantine = quarantineAfter({ inHand, conducts: kept });
  operator = await OperatorProcess.start(managementCluster, undefined, { quarantine });
  return quarantine;
}

const inHand: InHand[] = [{ key, isTask: false }];
const condition = () => managementCluster.conditions.find(({ type }) => type === 'Quarantined');
const apiServer = () => managementCluster.objects.get<StoredObject>(Deployment, namesOf(clusterName).apiServer);
const events = () => managementCluster.objects.list<StoredObject>(Event, {}).map((event) => String(event['reason']));

/** Someone deletes the Deployment of the API servers. */
function deleteApiServers(): void {
  const found = apiServer();
  if (found) managementCluster.objects.remove(found);
}

/** A reconcile waits a moment for what does not answer. */
async function reconcile(): Promise<void> {
  const reconciled = operator.reconcile();
  await managementCluster.clock.advance(1_000);
  await reconciled;
}

async function endTrial(hasBehaved: boolean): Promise<void> {
  trials.at(-1)?.end(hasBehaved);
  await settled();
}

describe('a control plane that was in hand at one end', () => {
  it('is reconciled as before', async () => {
    await startAfter(inHand);
    await reconcile();
    expect(condition()).toMatchObject({ status: 'False', reason: 'NotQuarantined' });
  });

  it('waits while another one of those is reconciled', async () => {
    const quarantine = await startAfter([...inHand, { key: other, isTask: false }]);
    const release = quarantine.takeReconcile(other);
    deleteApiServers();
    await reconcile();
    expect(apiServer()).toBeUndefined();
    release();
    await managementCluster.clock.advance(1_000);
    await reconcile();
    expect(apiServer()).toBeDefined();
  });
});

describe('a control plane that was in hand at two ends', () => {
  beforeEach(async () => {
    await startAfter(inHand, inHand);
    await reconcile();
  });

  it('is in quarantine, with a condition and a Warning', () => {
    expect(condition()).toMatchObject({ status: 'True', reason: 'HostedWorkApart' });
    expect(condition()?.message).toContain('next at');
    expect(events()).toContain('HostedWorkApart');
  });

  it('keeps what needs only the management cluster', async () => {
    deleteApiServers();
    await reconcile();
    expect(apiServer()).toBeDefined();
    expect(managementCluster.conditions.find(({ type }) => type === 'CertificatesReady')?.status).toBe('True');
  });

  it('is not asked for anything in its hosted cluster', async () => {
    let asked = 0;
    managementCluster.requireHostedApi = () => void (asked += 1);
    await reconcile();
    expect(asked).toBe(0);
    expect(operator.errors).toEqual([]);
    expect(operator.requeueAt).toBeDefined();
  });

  it('is worked on by a process of its own when that is due, and by no other one meanwhile', async () => {
    await managementCluster.clock.advance(minute);
    await reconcile();
    expect(trials.map(({ started }) => started)).toEqual([`${key} of ${clusterName}`]);
    deleteApiServers();
    await reconcile();
    expect(apiServer()).toBeUndefined();
  });

  it('is in no quarantine any more when that behaves', async () => {
    await managementCluster.clock.advance(minute);
    await reconcile();
    await endTrial(true);
    expect(operator.hasNews).toBe(true);
    deleteApiServers();
    await operator.untilSettled();
    expect(condition()).toMatchObject({ status: 'False', reason: 'NotQuarantined' });
    expect(managementCluster.conditions.filter(({ type, status }) => type === 'Ready' && status !== 'True')).toEqual(
      [],
    );
  });

  it('waits longer for the next one when that fails', async () => {
    await managementCluster.clock.advance(minute);
    await reconcile();
    await endTrial(false);
    await managementCluster.clock.advance(minute);
    await reconcile();
    expect(trials).toHaveLength(1);
    await managementCluster.clock.advance(minute);
    await reconcile();
    expect(trials).toHaveLength(2);
  });

  it('stays so for an instance that has not seen the ends', async () => {
    await operator.stop();
    const quarantine = quarantineAfter({ inHand: undefined, conducts: {} });
    operator = await OperatorProcess.start(managementCluster, undefined, { quarantine });
    await reconcile();
    expect(condition()).toMatchObject({ status: 'True', reason: 'HostedWorkApart' });
  });

  it('stays so in the status that its own process writes', async () => {
    await operator.stop();
    operator = await OperatorProcess.start(managementCluster, undefined, { isSecondProcess: true });
    await operator.untilSettled();
    expect(condition()).toMatchObject({ status: 'True', reason: 'HostedWorkApart' });
    expect(managementCluster.conditions.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });

  it('is forgotten when it is deleted', async () => {
    managementCluster.management.store.remove(managementCluster.hostedControlPlane);
    await reconcile();
    expect(managementCluster.objects.get(HostedControlPlane, ourName.name)).toBeUndefined();
    expect(operator.errors).toEqual([]);
  });
});

describe('a control plane that ends the operator in quarantine, too', () => {
  beforeEach(async () => {
    await startAfter(inHand, inHand, inHand);
    await reconcile();
  });

  it('is left to a process of its own altogether', async () => {
    expect(condition()).toMatchObject({ status: 'True', reason: 'AllWorkApart' });
    deleteApiServers();
    await reconcile();
    expect(apiServer()).toBeUndefined();
    await managementCluster.clock.advance(2 * minute);
    await reconcile();
    expect(trials).toHaveLength(1);
  });
});

it('a trial that is stopped with the operator is neither good nor bad', async () => {
  const quarantine = await startAfter(inHand, inHand);
  await reconcile();
  await managementCluster.clock.advance(minute);
  await reconcile();
  const before = kept;
  await quarantine.close();
  expect([trials.length, kept]).toEqual([1, before]);
});

it('one trial runs at a time, and the next one follows it', async () => {
  const both = [...inHand, { key: other, isTask: false }];
  const quarantine = await startAfter(both, both);
  await managementCluster.clock.advance(minute);
  expect(quarantine.tryAlone(key, clusterName, () => {})).toBeUndefined();
  expect(quarantine.tryAlone(other, 'other', () => {})).toBeInstanceOf(Date);
  expect(trials).toHaveLength(1);
  await endTrial(true);
  expect(quarantine.tryAlone(other, 'other', () => {})).toBeUndefined();
  expect(trials).toHaveLength(2);
});
