import { expect, it } from 'vitest';
import { BackedUpCluster } from '../../support/loop/backed-up-cluster.ts';
import { ObjectStoreServer } from '../../support/object-store-server.ts';

it('a verification that fails every minute writes no status after its first failure', async () => {
  const bucket = await ObjectStoreServer.start();
  const site = await BackedUpCluster.start(bucket, 'a1', 0);
  const { cluster } = site;
  await site.backUp(0);
  // An operator that does not know its own image cannot create the pod of a verification.
  cluster.operatorImage = undefined;
  await site.restartOperator();
  await cluster.change({ etcd: { backup: { verify: { disabled: false, every: 1 } } } });

  const failure = () => cluster.conditions.find(({ type }) => type === 'EtcdBackupVerified');
  await site.operator.reconcileUntil('the first failure', () => failure()?.status === 'False');
  expect(failure()?.message).toContain('OPERATOR_IMAGE');
  const statuses = () => cluster.management.writes.filter((write) => write.includes(' HostedControlPlane '));
  const { length } = statuses();
  for (let attempt = 0; attempt < 2; attempt++) {
    await cluster.clock.advance(61_000);
    await site.operator.reconcileUntil('another failure, after which the operator waits', () => {
      const waitMs = (site.operator.requeueAt?.getTime() ?? 0) - cluster.clock.now();
      return waitMs > 0 && waitMs <= 60_000;
    });
  }
  expect(statuses().slice(length)).toEqual([]);
  await site.operator.stop();
  bucket.stop();
}, 60_000);
