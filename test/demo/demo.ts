/**
 * `npm run demo`: from nothing to a hosted control plane with a worker that runs pods, on this machine, with real
 * binaries. Run again it uses what is there; `npm run demo -- --down` removes it all.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { HostedControlPlane, Secret } from '../../constructs/api/resources.ts';
import type { Condition } from '../../constructs/api/status.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { type SecretObject, valueOf } from '../../reconciler/pki/secret.ts';
import { installProvider } from '../support/provider.ts';
import type { HostedControlPlaneObject } from '../support/workbench.ts';
import { clientOf } from '../testbed/access.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { binDirectory, instanceFrom, type Instance, kubeconfigPath, testbedLog } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { type Report, reportTo, until } from '../testbed/progress.ts';
import { takeDown } from '../testbed/take-down.ts';
import { stepsBetween, timeLine } from './progress.ts';
import { haveWorker, sayHello } from './workload.ts';

const name = { namespace: 'demo', name: 'demo' };
/** Longer than the slowest machine we know needs; what it waits for is on the screen all the while. */
const limitMs = 300_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { down: { type: 'boolean', default: false } } });
  const instance = instanceFrom(process.env);
  const report = reportTo(testbedLog(instance), process.stderr);
  if (values.down) {
    const left = await takeDown(instance, report);
    if (left.length > 0) throw new Error(`left behind:\n${left.join('\n')}`);
    return;
  }
  report(`1. a management cluster: etcd, Kubernetes, containerd, Cluster API, all real`);
  await bringUp(instance, report);
  report('2. the provider, as a pod');
  await installProvider(instance, report);
  report('3. a Cluster and its HostedControlPlane: test/demo/cluster.yaml');
  const provisioned = await provision(instance, report);
  report('4. a worker: a machine of its own that joins by kubeadm');
  await haveWorker(instance, name, report);
  report('5. pods on it: test/demo/hello.yaml');
  await sayHello(instance, name, report);
  report(summary(instance, provisioned));
}

interface Provisioned {
  /** What happened when, a line each. */
  readonly timeLine: string;
  /** Path of the hosted cluster's kubeconfig. */
  readonly kubeconfig: string;
}

async function provision(instance: Instance, report: Report): Promise<Provisioned> {
  const client = await clientOf(instance);
  try {
    const start = performance.now();
    await kubectl(instance, ['apply', '--server-side', '--filename', join(repository, 'test/demo/cluster.yaml')]);
    const done = await followUntilReady(client, start, report);
    return { timeLine: timeLine(done), kubeconfig: await saveKubeconfig(client, instance) };
  } finally {
    await client.connection.close();
  }
}

function summary(instance: Instance, { timeLine: steps, kubeconfig }: Provisioned): string {
  const kubectlPath = join(binDirectory(instance), 'kubectl');
  return `
it all works; the control plane took, from kubectl apply,
${steps}

the management cluster: export KUBECONFIG=${kubeconfigPath(instance)}
the hosted cluster:     ${kubeconfig}

try:
  ${kubectlPath} --kubeconfig ${kubeconfig} get nodes,pods --all-namespaces
  ${kubectlPath} --kubeconfig ${kubeconfig} exec deployment/hello -- wget -qO- http://hello
  ${kubectlPath} --kubeconfig ${kubeconfigPath(instance)} -n demo get cluster,hostedcontrolplane,pods
  npm run testbed -- worker add demo --namespace demo

The Cluster does not become Available for Cluster API, because it has no infrastructure; its control plane is.
npm run demo -- --down removes it all`;
}

/** Shows what happens and what is waited for until the control plane is ready; gives the steps with their times. */
async function followUntilReady(client: KubeClient, start: number, report: Report) {
  const done: { text: string; seconds: number }[] = [];
  let seen: readonly Condition[] = [];
  await until({ what: 'HostedControlPlane demo ready', timeoutMs: limitMs, intervalMs: 100 }, async () => {
    const { status } = await client.get<HostedControlPlaneObject>(HostedControlPlane, name);
    const conditions = status?.conditions ?? [];
    const seconds = (performance.now() - start) / 1000;
    for (const { isDone, text } of stepsBetween(seen, conditions)) {
      report(`${seconds.toFixed(2).padStart(7)} s  ${isDone ? 'ok' : '..'}  ${text}`);
      if (isDone) done.push({ text, seconds });
    }
    seen = conditions;
    return conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  });
  return done;
}

async function saveKubeconfig(client: KubeClient, instance: Instance): Promise<string> {
  const secret = await client.get<SecretObject>(Secret, { namespace: 'demo', name: 'demo-kubeconfig' });
  const path = join(instance.directory, 'demo.kubeconfig');
  await writeFile(path, valueOf(secret, 'value') ?? '', { mode: 0o600 });
  return path;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
