import { findBinaries, findFurtherBinaries } from '../../testbed/binaries.ts';
import { objectStore } from '../../testbed/families.ts';
import { instanceFrom } from '../../testbed/instance.ts';
import { answerOf, node } from '../child-program.ts';
import type { Extent } from '../extent.ts';
import type { Figure } from '../figure.ts';
import type { FleetJob } from './job.ts';

/**
 * What one operator needs for a fleet of clusters. Everything runs in a network of its own, where all addresses of clusters are
 * those of this machine.
 */
export function measureFleet({ fleet }: Extent): Promise<Figure[]> {
  return inNetworkOfItsOwn({ ...fleet, part: 'fleet' });
}

/** How it comes through outages of its management API server. */
export function measureFleetOutages({ fleet, outages }: Extent): Promise<Figure[]> {
  return inNetworkOfItsOwn({ ...fleet, ...outages, part: 'outages' });
}

/** What hosted API servers that answer with bombs do to the operator and to their neighbours. */
export function measureHostileServers({ hostile }: Extent): Promise<Figure[]> {
  return inNetworkOfItsOwn({ ...hostile, outages: [], part: 'hostile' });
}

async function inNetworkOfItsOwn(job: FleetJob): Promise<Figure[]> {
  // No module can be downloaded there.
  const { cache } = instanceFrom(process.env);
  await findBinaries(cache, process.env['HCP_TESTBED_BIN'], console.error);
  await findFurtherBinaries([objectStore], cache, console.error);
  const command = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', node];
  return answerOf<Figure[]>('fleet/fleet-process.ts', job, command);
}
