import { expect, it } from 'vitest';
import { ConfigMap, HostedControlPlane, Service } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { ourName } from '../../support/loop/memory-cluster.ts';
import { completeCluster, expectNoWrites } from '../../support/loop/scenario.ts';
import { MemoryClient } from '../../support/memory-cluster/client.ts';
import { administrator } from '../../support/memory-cluster/users.ts';
import type { StoredObject } from '../../support/memory-objects.ts';
import { clusterName, namespace } from '../../support/scope.ts';

const user = { fieldManager: 'user' };
const service = { namespace, name: namesOf(clusterName).apiService };

it('what the operator repaired after a backup of the management etcd is repaired again when that backup is restored', async () => {
  const management = await completeCluster();
  const ports = async () => (await management.user.get<StoredObject>(Service, service))['spec'];
  const whole = await ports();
  await management.user.mergePatch(Service, service, { spec: { ports: null } }, user);
  const backup = management.management.store.copy();
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(await ports()).toEqual(whole);

  management.management.store.restore(backup);
  // The watches of a restored server are interrupted, and resume after a moment.
  await management.clock.advance(1_000);
  await operator.untilSettled();
  expect(await ports()).toEqual(whole);
  expect(management.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  await expectNoWrites(management, operator);
  await operator.stop();
});

it('what the operator repaired in a hosted cluster is repaired again when others restore its etcd to an older version', async () => {
  const management = await completeCluster();
  const { store } = management.hosted;
  const users = new MemoryClient(management.hosted, administrator('users'));
  const map = { namespace: 'kube-system', name: 'coredns' };
  const content = async () => (await users.get<StoredObject>(ConfigMap, map))['data'];
  const whole = await content();
  await users.mergePatch(ConfigMap, map, { data: { Corefile: 'changed' } }, user);
  const backup = store.copy();
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  expect(await content()).toEqual(whole);

  store.restore(backup);
  await management.clock.advance(1_000);
  await operator.untilSettled();
  expect(await content()).toEqual(whole);
  await operator.stop();
});

it('a HostedControlPlane that a restore of the management etcd leads back is reconciled as it is then', async () => {
  const management = await completeCluster();
  const operator = await OperatorProcess.start(management);
  await operator.untilSettled();
  const backup = management.management.store.copy();
  await management.change({ replicas: 2 });
  await operator.untilSettled();
  management.management.store.restore(backup);
  await management.clock.advance(1_000);
  await operator.untilSettled();
  expect(management.conditions.find(({ type }) => type === 'Ready')).toMatchObject({ status: 'True' });
  const stored = await management.user.get<StoredObject>(HostedControlPlane, ourName);
  expect(stored.metadata.generation).toBe((stored['status'] as { observedGeneration: number }).observedGeneration);
  await expectNoWrites(management, operator);
  await operator.stop();
  expect(management.management.store.list(ConfigMap).length).toBeGreaterThan(0);
});
