/**
 * One operator and a fleet of simulated clusters, in a network of its own: `node fleet-process.ts < job.json`. The job is a
 * {@link FleetJob}, the answer on standard output a list of figures.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { definitions } from '../../../../constructs/api/crd.ts';
import { Cluster, Machine, MachinePool, Namespace } from '../../../../constructs/api/resources.ts';
import { providerNamespace } from '../../../../constructs/cluster/provider-names.ts';
import { ApiServer } from '../../../support/api-server.ts';
import { installDefinition } from '../../../support/definitions.ts';
import { ShippedRights } from '../../../support/shipped-rights.ts';
import { until } from '../../../support/until.ts';
import { applyObjects } from '../../testbed/apply-objects.ts';
import { bundleOperator } from '../../testbed/operator-bundle.ts';
import { run } from '../../testbed/run.ts';
import type { Figure } from '../figure.ts';
import { FleetClusters } from './fleet-clusters.ts';
import { measureHostile } from './hostile.ts';
import type { FleetJob } from './job.ts';
import { measureFleetOf, measureOutagesOf } from './measure.ts';
import { OperatorProcess } from './operator-process.ts';
import { World } from './world.ts';

const start = performance.now();
const report = (line: string): void =>
  console.error(`fleet, ${Math.round((performance.now() - start) / 1000)} s: ${line}`);

// Every address of 10.0.0.0/8 is this machine's, so that one process can serve at all of them.
await run(['ip', 'link', 'set', 'lo', 'up']);
await run(['ip', 'route', 'add', 'local', '10.0.0.0/8', 'dev', 'lo']);

const job = JSON.parse(await text(process.stdin)) as FleetJob;
const directory = await mkdtemp(join(tmpdir(), 'fleet-'));
const server = new ApiServer(['--allow-privileged=true']);
let world: World | undefined;
let rights: ShippedRights | undefined;
let figures: Figure[] = [];
try {
  await bundleOperator(directory);
  await server.start();
  await applyObjects(server.client, definitions);
  for (const resource of [Cluster, Machine, MachinePool]) {
    await installDefinition(server.client, resource, { served: ['v1beta2'] });
  }
  report('the management API server runs');
  world = await World.start(server.kubeconfig, await server.saveSnapshot(), Math.min(1, availableParallelism() - 1));
  report('the simulated world runs');
  const clusters = new FleetClusters(server.client, report, { hasLargeEtcds: job.part !== 'hostile' });
  await clusters.watch();
  const { client } = server;
  const metadata = { name: providerNamespace };
  await applyObjects(client, [{ apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata }]);
  rights = await ShippedRights.grant({ client, kubeconfig: server.kubeconfig, namespace: providerNamespace });
  const { kubeconfig } = rights;
  // What Node takes in a container with the memory of the Deployment, half of it.
  const asInstalled = { flags: ['--max-old-space-size=512'], leaseNamespace: providerNamespace };
  const { optimizeFor, part } = job;
  const further = { fleet: { watchesLoop: true }, outages: {}, hostile: asInstalled }[part];
  const options = { directory, kubeconfig, core: 0, optimizeFor, ...further };
  const startOperator = () => OperatorProcess.start(options);
  const measure = { fleet: measureFleetOf, outages: measureOutagesOf, hostile: measureHostile }[part];
  figures = await measure({ job, server, rights, world, clusters, startOperator, report });
  await clusters.stop();
} catch (error) {
  const log = await readFile(join(directory, 'operator.log'), 'utf8').catch(() => '');
  report(`the last lines of the operator: ${log.slice(-2_000)}`);
  throw error;
} finally {
  world?.stop();
  // After five minutes without etcd, an API server has not answered the first request for Roles within 30 s.
  await until('the rights of the operator to end', () => endOf(rights), 300_000);
  await server.stop();
  await rm(directory, { recursive: true });
}
process.stdout.write(JSON.stringify(figures));

/** Whether they have ended. */
async function endOf(granted: ShippedRights | undefined): Promise<boolean> {
  if (!granted) return true;
  return granted.end().then(
    () => true,
    () => false,
  );
}
