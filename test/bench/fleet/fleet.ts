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

function inNetworkOfItsOwn(job: FleetJob): Promise<Figure[]> {
  const command = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', node];
  return answerOf<Figure[]>('fleet/fleet-process.ts', job, command);
}
