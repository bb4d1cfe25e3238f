import { join } from 'node:path';
import { Node } from '../../../constructs/api/resources.ts';
import { type ClusterName, hostedKubectl } from '../testbed/hosted-api.ts';
import type { Instance } from '../testbed/instance.ts';
import { untilNodeReady } from '../testbed/join.ts';
import { findMachine, type Machine } from '../testbed/machine.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { type Report, step, until } from '../testbed/progress.ts';
import { addWorker, removeWorker, withHostedApi, workerNames } from '../testbed/workers.ts';

const limitMs = 120_000;

/** Gives the hosted cluster a worker; one that joined in an earlier run is reused, others are removed. */
export async function haveWorker(instance: Instance, cluster: ClusterName, report: Report): Promise<void> {
  const names = await workerNames(instance, cluster);
  const machines = await Promise.all(names.map((name) => joinedMachine(instance, cluster, name)));
  for (const name of names.filter((_, index) => !machines[index])) {
    await step(report, `removed ${name}, which an earlier run did not let join`, () => removeWorker(instance, name));
  }
  const present = machines.find((machine) => machine !== undefined);
  if (present) {
    await step(report, `${present.name} is there already, and Ready`, () =>
      withHostedApi(instance, cluster, (api) => untilNodeReady(present, api)),
    );
    return;
  }
  const { name, readyAfterMs } = await addWorker(instance, cluster, report);
  report(`${name} was Ready ${(readyAfterMs.powerOn / 1000).toFixed(1)} s after power on`);
}

/** The machine of a worker that is a node of the cluster, ready or not. */
async function joinedMachine(instance: Instance, cluster: ClusterName, name: string): Promise<Machine | undefined> {
  const node = await withHostedApi(instance, cluster, ({ client }) => client.find(Node, { name }));
  return node && findMachine(instance, name);
}

/** Runs a page of two replicas behind a Service, and lets a pod read it until both have answered. */
export async function runHello(instance: Instance, cluster: ClusterName, report: Report): Promise<void> {
  await withHostedApi(instance, cluster, async (api) => {
    const kubectl = (...args: string[]): Promise<string> => hostedKubectl(instance, api, args);
    await step(report, 'two replicas are ready', async () => {
      await kubectl('apply', '--server-side', '--filename', join(repository, 'test/tools/demo/hello.yaml'));
      await kubectl('rollout', 'status', 'deployment/hello', `--timeout=${limitMs}ms`);
    });
    const answers = await step(
      report,
      'a pod asked http://hello.default.svc.cluster.local until both had answered',
      () => answersOfBoth(() => kubectl('exec', 'deployment/hello', '--', ...question)),
    );
    for (const answer of answers) report(`           ${answer}`);
  });
}

const question = ['timeout', '3', 'wget', '-qO-', 'http://hello.default.svc.cluster.local'];

async function answersOfBoth(ask: () => Promise<string>): Promise<string[]> {
  const answers = new Set<string>();
  // DNS of the hosted cluster may still be starting
  await until({ what: 'answers of both replicas', timeoutMs: limitMs, intervalMs: 50 }, async () => {
    answers.add((await ask()).trim());
    return answers.size === 2;
  });
  return [...answers];
}
