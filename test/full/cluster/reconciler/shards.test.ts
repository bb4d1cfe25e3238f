import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchFilterLabel } from '../../../../constructs/api/group.ts';
import { Cluster, Machine, MachinePool, Service, StatefulSet } from '../../../../constructs/api/resources.ts';
import { type AuditedRequest, auditLog, isWrite } from '../../../support/audit-log.ts';
import { installDefinition } from '../../../support/definitions.ts';
import { type NamedOperator, startOperatorAs } from '../../../support/operator-as.ts';
import { plainApiServer } from '../../../support/plain-api-server.ts';
import { until } from '../../../support/until.ts';
import { single, Workbench } from '../../../support/workbench.ts';

const log = auditLog();
const server = plainApiServer({ flags: log.flags });
const operators = new Map<string, NamedOperator>();

beforeAll(async () => {
  for (const resource of [Cluster, Machine, MachinePool]) {
    await installDefinition(server.client, resource, { served: ['v1beta2'] });
  }
});
afterAll(async () => {
  await Promise.all([...operators.values()].map((operator) => operator.stop()));
});

async function start(name: string, options: { namespace: string; watchFilter?: string }): Promise<void> {
  operators.set(name, await startOperatorAs(name, server, options));
}

async function requestsOf(name: string): Promise<AuditedRequest[]> {
  const operator = operators.get(name);
  if (!operator) throw new Error(`no operator ${name} has been started`);
  return log.requestsOf(operator.user);
}

/** A Cluster with a control plane, for which an operator has created all that needs no controller. */
async function order(bench: Workbench, cluster: string, shard?: string): Promise<void> {
  await bench.create(cluster, single);
  if (shard !== undefined) await bench.patch(cluster, { metadata: { labels: { [watchFilterLabel]: shard } } });
  await bench.nameOwner(cluster);
}

function untilBegun({ client, namespace }: Workbench, cluster: string): Promise<unknown> {
  return until(`etcd of ${cluster}`, () => client.find(StatefulSet, { namespace, name: `${cluster}-etcd` }));
}

async function writesOf(name: string): Promise<string[]> {
  const requests = await requestsOf(name);
  return requests.filter(isWrite).map(({ resource, namespace, name }) => `${resource} ${namespace}/${name}`);
}

// Without any controller: an operator creates all that needs no pod.
describe('two operators of one namespace with different --watch-filter', () => {
  const namespace = 'labelled';
  let bench: Workbench;
  beforeAll(async () => {
    bench = await Workbench.open(server.kubeconfig, namespace);
    await start('shard-a', { namespace, watchFilter: 'a' });
    await start('shard-b', { namespace, watchFilter: 'b' });
    await order(bench, 'alpha', 'a');
    await order(bench, 'beta', 'b');
    await untilBegun(bench, 'alpha');
    await untilBegun(bench, 'beta');
  });
  afterAll(() => bench.close());

  it.each([
    ['shard-a', 'alpha', 'beta'],
    ['shard-b', 'beta', 'alpha'],
  ])('%s writes objects of %s only, as the audit log says', async (name, own, others) => {
    const written = await writesOf(name);
    expect(written).toContain(`secrets ${namespace}/${own}-ca`);
    expect(written.filter((object) => !object.includes(own) || object.includes(others))).toEqual([]);
  });

  it('a control plane that changes its label is written by the other one from then on', async () => {
    const service = { namespace, name: 's-beta' };
    await bench.patch('beta', { metadata: { labels: { [watchFilterLabel]: 'a' } } });
    const renew = async () => {
      await bench.client.delete(Service, service);
      await until('a new Service of beta', () => bench.client.find(Service, service));
    };
    // Once for a reconcile of the former operator that had begun before.
    await renew();
    const before = (await writesOf('shard-b')).length;
    await renew();
    expect(await writesOf('shard-a')).toContain(`services ${namespace}/s-beta`);
    expect((await writesOf('shard-b')).slice(before)).toEqual([]);
  });
});

it('operators with different --namespace ask for nothing in the namespace of the other one', async () => {
  const [one, two] = [await Workbench.open(server.kubeconfig, 'one'), await Workbench.open(server.kubeconfig, 'two')];
  for (const bench of [one, two]) {
    await start(`of-${bench.namespace}`, { namespace: bench.namespace });
    await order(bench, 'same');
    await untilBegun(bench, 'same');
    const requests = await requestsOf(`of-${bench.namespace}`);
    const others = requests.filter((request) => request.namespace !== bench.namespace);
    expect(others.filter(isWrite)).toEqual([]);
    // Besides objects of the cluster: the address of the management cluster's own API, for network policies.
    const read = others.filter(({ namespace }) => namespace !== undefined);
    expect(new Set(read.map(({ namespace, name }) => `${namespace}/${name}`))).toEqual(new Set(['default/kubernetes']));
  }
  await one.close();
  await two.close();
});
