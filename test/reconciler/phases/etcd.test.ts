import { expect, it } from 'vitest';
import { StatefulSet } from '../../../constructs/api/resources.ts';
import { InvalidConfiguration } from '../../../reconciler/outcome.ts';
import { etcd } from '../../../reconciler/phases/etcd.ts';
import { MemoryWorld } from '../../support/memory-world.ts';
import { scopeOf } from '../../support/scope.ts';

const certificates = { certificates: {}, mounts: {} };

it('waits for its members, and is told in words of the spec that its volumes cannot change yet', async () => {
  const world = new MemoryWorld();
  const first = await etcd.run(scopeOf(world, { facts: certificates }));
  expect(first).toMatchObject({ kind: 'wait', reason: 'WaitingForMembers' });

  const larger = scopeOf(world, { facts: certificates, spec: { etcd: { autoGrow: false, volumeSize: '8Gi' } } });
  const refused = etcd.run(larger);
  await expect(refused).rejects.toThrow('volumes have 4Gi and cannot be changed to 8Gi');
  await expect(refused).rejects.toBeInstanceOf(InvalidConfiguration);
  expect(JSON.stringify(world.get(StatefulSet, 'c1-etcd'))).toContain('4Gi');
});
