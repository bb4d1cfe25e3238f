import { afterAll, beforeAll, expect, it } from 'vitest';
import { Service } from '../../../../constructs/api/resources.ts';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { AttendedFleet } from '../../../support/quarantine/attended-fleet.ts';
import { clusterName } from '../../../support/scope.ts';
import { until } from '../../../support/until.ts';

let fleet: AttendedFleet;
beforeAll(async () => {
  fleet = await AttendedFleet.start(3);
});
afterAll(() => fleet.stop());

it('a control plane that ends the operator is worked on by a process of its own until it behaves', async () => {
  await fleet.plant('aborts');
  await until(
    'a quarantine',
    async () => fleet.quarantined?.status === 'True',
    60_000,
    () => fleet.ends.join(),
  );
  expect(fleet.ends).toEqual(['SIGABRT', 'SIGABRT']);

  // What needs only the management cluster goes on.
  const service = () => fleet.faulty.objects.get(Service, namesOf(clusterName).apiService);
  const found = service();
  if (found) fleet.faulty.objects.remove(found);
  await until('the Service to come back', async () => service() !== undefined);

  await until('a trial to fail', async () => (await fleet.log()).includes('"hasBehaved":false'), 60_000);
  await fleet.heal();
  await until('the quarantine to end', async () => fleet.quarantined?.status === 'False', 60_000);
  await fleet.untilAttended();
  expect([fleet.ends, fleet.wronglyQuarantined]).toEqual([['SIGABRT', 'SIGABRT'], []]);
});
