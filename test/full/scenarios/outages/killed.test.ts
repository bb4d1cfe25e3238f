import { expect, it } from 'vitest';
import { StatefulSet } from '../../../../constructs/api/resources.ts';
import { completeCluster, everyCrash, expectSameAfter, smallestSpec } from '../../../support/loop/scenario.ts';

it.each([
  ['patch release', 'v1.36.4', '3.6.8'],
  ['minor version, with that of etcd at last,', 'v1.37.1', '3.7.0'],
])(
  'an operator that crashes at any write of an upgrade to a %s leads to the same control plane',
  async (_, version, etcd) => {
    const management = await completeCluster(smallestSpec);
    await management.change({ version, replicas: 2 });
    const crashes = await everyCrash(management);
    expect(crashes.length).toBeGreaterThan(5);
    expect(JSON.stringify(management.objects.get(StatefulSet, 'c1-etcd'))).toContain(`etcd:${etcd}-0`);
    expect(management.hostedControlPlane).toMatchObject({ status: { version } });
    await expectSameAfter(crashes, management);
  },
);
