import { answerOf, node } from '../child-program.ts';
import type { Extent } from '../extent.ts';
import type { Figure } from '../figure.ts';
import type { FleetJob } from './job.ts';

/**
 * What one operator needs for a fleet of clusters. Everything runs in a network of its own, where all addresses of clusters are
 * those of this machine.
 */
export function measureFleet({ fleet }: Extent): Promise<Figure[]> {
  return measured(fleet);
}

/** What hosted API servers that answer with bombs do to the operator and to their neighbours. */
export function measureHostileServers({ hostile }: Extent): Promise<Figure[]> {
  return measured(hostile);
}

function measured(fleet: FleetJob): Promise<Figure[]> {
  const command = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', node];
  return answerOf<Figure[]>('fleet/fleet-process.ts', fleet, command);
}
