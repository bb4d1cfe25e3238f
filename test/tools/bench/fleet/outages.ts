import { setTimeout } from 'node:timers/promises';
import type { ApiServer } from '../../../support/api-server.ts';
import { type Figure, line } from '../figure.ts';
import type { FleetClusters } from './fleet-clusters.ts';
import type { FleetJob, outageWays } from './job.ts';
import type { OperatorProcess, OperatorRequests } from './operator-process.ts';

/** What goes away, and who is to come through it. */
export interface Outage {
  readonly job: Pick<FleetJob, 'clusters' | 'outages'>;
  readonly server: ApiServer;
  readonly clusters: Pick<FleetClusters, 'changeSome' | 'untilConverged'>;
  readonly operator: Pick<OperatorProcess, 'requests' | 'processorSeconds'>;
  readonly report: (line: string) => void;
}

const limitMs = 600_000;
const goal = { atMost: 30 };
/** The share of the fleet that changes just before an outage, and that of others when it is over. */
const share = 0.1;

/** How it goes away, and comes back. */
const ways = {
  killed: {
    what: 'the API server is killed',
    begin: (server: ApiServer) => server.killApiServer(),
    end: (server: ApiServer) => server.startApiServer(),
  },
  // As behind a network that drops everything: connections stay, and nothing answers.
  silent: {
    what: 'the API server is silent',
    begin: (server: ApiServer) => server.apiServer.pause(),
    end: (server: ApiServer) => server.apiServer.resume(),
  },
  withoutEtcd: {
    what: 'the etcd behind the API server is silent',
    begin: (server: ApiServer) => server.etcd.pause(),
    end: (server: ApiServer) => server.etcd.resume(),
  },
} as const satisfies Record<(typeof outageWays)[number], object>;

/** Takes the management API server away while the operator reconciles a burst of changes, and changes other specs when it is back. */
export async function measureOutages({ job, server, clusters, operator, report }: Outage): Promise<Figure[]> {
  const size = Math.max(1, Math.floor(job.clusters * share));
  const numbers = Array.from({ length: job.clusters }, (_, number) => number);
  const figures: Figure[] = [];
  for (const [index, { way, seconds }] of job.outages.entries()) {
    const { what, begin, end } = ways[way];
    const spec = { deployment: { scheduler: { args: { v: String(1 + index) } } } };
    await clusters.changeSome(numbers.slice(0, size), spec);
    await begin(server);
    await setTimeout(seconds * 1000);
    await end(server);
    const start = performance.now();
    const [before, processor] = [await operator.requests(), await operator.processorSeconds()];
    await clusters.changeSome(numbers.slice(size, 2 * size), spec);
    const name = `fleet: ${what} for ${seconds} s amid ${2 * size} changes`;
    const ms = await clusters.untilConverged(name, limitMs, start);
    const after = await operator.requests();
    const count = (kind: keyof OperatorRequests) => after[kind] - before[kind];
    const used = (await operator.processorSeconds()) - processor;
    const measured: Figure[] = [
      { name: `${name}, until all ${job.clusters} have converged`, value: ms / 1000, unit: 's', goal },
      {
        name: `${name}, requests of the operator until then`,
        value: count('reads') + count('writes'),
        unit: 'requests',
      },
      { name: `${name}, reconciles until then`, value: count('reconciles'), unit: 'reconciles' },
      { name: `${name}, processor of the operator until then`, value: used, unit: 's' },
    ];
    for (const figure of measured) report(line(figure));
    figures.push(...measured);
  }
  return figures;
}
