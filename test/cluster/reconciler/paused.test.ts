import { afterAll, beforeAll, expect, it } from 'vitest';
import { pausedAnnotation } from '../../../constructs/api/group.ts';
import { Cluster, HostedControlPlane, Secret, Service, StatefulSet } from '../../../constructs/api/resources.ts';
import { auditLog, isWrite } from '../../support/audit-log.ts';
import { installDefinition } from '../../support/definitions.ts';
import { type NamedOperator, startOperatorAs } from '../../support/operator-as.ts';
import { plainApiServer } from '../../support/plain-api-server.ts';
import { until } from '../../support/until.ts';
import { single, Workbench } from '../../support/workbench.ts';

const log = auditLog();
// Without any controller: an operator creates all that needs no pod.
const server = plainApiServer({ flags: log.flags });
const namespace = 'paused';
let bench: Workbench;
let operator: NamedOperator | undefined;

beforeAll(async () => {
  await installDefinition(server.client, Cluster, { served: ['v1beta2'] });
  bench = await Workbench.open(server.kubeconfig, namespace);
});
afterAll(async () => {
  await operator?.stop();
  await bench.close();
});

/** Another operator process, whose requests have a user of their own in the audit log. Returns that user. */
async function restart(account: string): Promise<string> {
  await operator?.stop();
  operator = undefined;
  operator = await startOperatorAs(account, server, { namespace });
  return operator.user;
}

const pauses: [string, string, (cluster: string, isPaused: boolean) => Promise<unknown>][] = [
  [
    'its Cluster',
    'by-cluster',
    (name, paused) =>
      bench.client.mergePatch(Cluster, { namespace, name }, { spec: { paused } }, { fieldManager: 'user' }),
  ],
  [
    'its annotation',
    'by-annotation',
    (name, isPaused) => bench.patch(name, { metadata: { annotations: { [pausedAnnotation]: isPaused ? '' : null } } }),
  ],
];

it.each(pauses)(
  'a control plane that %s pauses gets no write but its condition, whatever others do, until it is resumed',
  async (_, cluster, pause) => {
    const inNamespace = (suffix: string) => ({ namespace, name: `${cluster}-${suffix}` });
    const endpoint = { namespace, name: `s-${cluster}` };
    await restart(`before-${cluster}`);
    await bench.create(cluster, single);
    await bench.nameOwner(cluster);
    await until('etcd', () => bench.client.find(StatefulSet, inNamespace('etcd')));

    await pause(cluster, true);
    await bench.untilCondition(cluster, 'Paused', { status: 'True' });
    // All requests of this one fall into the pause.
    const during = await restart(`during-${cluster}`);
    await bench.client.delete(Service, endpoint);
    await bench.client.delete(Secret, inNamespace('scheduler'));
    await bench.client.mergePatch(
      StatefulSet,
      inNamespace('etcd'),
      { spec: { replicas: 0 } },
      { fieldManager: 'user' },
    );
    await bench.patch(cluster, { spec: { replicas: 3 } });
    await bench.client.delete(HostedControlPlane, inNamespace('cp'));
    await until('the operator to have seen the deletion', async () => {
      const { metadata } = await bench.get(cluster);
      const paused = await bench.condition(cluster, 'Paused');
      return metadata.deletionTimestamp !== undefined && paused?.observedGeneration === metadata.generation;
    });
    const written = (await log.requestsOf(during)).filter(isWrite);
    const asText = written.map(({ verb, resource, subresource }) => [verb, resource, subresource].join(' ').trimEnd());
    expect(new Set(asText)).toEqual(new Set(['patch hostedcontrolplanes status']));
    expect(await bench.client.find(Service, endpoint)).toBeUndefined();

    await pause(cluster, false);
    await until('the control plane to be deleted', async () => {
      return (await bench.client.find(HostedControlPlane, inNamespace('cp'))) === undefined;
    });
    expect(await bench.client.find(StatefulSet, inNamespace('etcd'))).toBeUndefined();
  },
);
