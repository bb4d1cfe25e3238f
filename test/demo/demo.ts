/**
 * `npm run demo`: from nothing to a hosted control plane with a worker that runs pods, on this machine, with real
 * binaries. Another run reuses what exists; `npm run demo -- --down` removes everything.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import { installProvider } from '../support/provider.ts';
import { clientOf } from '../testbed/access.ts';
import { installAddon } from '../testbed/addons.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { openHostedApi } from '../testbed/hosted-api.ts';
import { binDirectory, instanceFrom, type Instance, kubeconfigPath, testbedLog } from '../testbed/instance.ts';
import { kubectl } from '../testbed/kubectl.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { type Report, reportTo } from '../testbed/progress.ts';
import { takeDown } from '../testbed/take-down.ts';
import { followUntilReady } from './follow.ts';
import { haveWorker, runHello } from './workload.ts';

const name = { namespace: 'demo', name: 'demo' };

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { down: { type: 'boolean', default: false } } });
  const instance = instanceFrom(process.env);
  const report = reportTo(testbedLog(instance), process.stderr);
  if (values.down) {
    const left = await takeDown(instance, report);
    if (left.length > 0) throw new Error(`left behind:\n${left.join('\n')}`);
    return;
  }
  report(`1. a management cluster: etcd, Kubernetes, containerd, Cluster API, a Gateway of Traefik, all real`);
  await bringUp(instance, report);
  await installAddon(instance, 'traefik', report);
  report('2. the provider, as a pod');
  await installProvider(instance, report);
  report('3. a Cluster and its HostedControlPlane behind the Gateway: test/demo/cluster.yaml');
  const kubeconfig = await provision(instance, report);
  report('4. a worker: a machine of its own that joins by kubeadm');
  await haveWorker(instance, name, report);
  report('5. pods on it: test/demo/hello.yaml');
  await runHello(instance, name, report);
  report(whatNext(instance, kubeconfig));
}

/** Creates the control plane; returns the path of a kubeconfig for it. */
async function provision(instance: Instance, report: Report): Promise<string> {
  const client = await clientOf(instance);
  try {
    const start = performance.now();
    await kubectl(instance, ['apply', '--server-side', '--filename', join(repository, 'test/demo/cluster.yaml')]);
    await followUntilReady(client, name, start, report);
    report(`the control plane is ready, ${((performance.now() - start) / 1000).toFixed(1)} s after kubectl apply`);
    return await kubeconfigFor(instance, client);
  } finally {
    await client.connection.close();
  }
}

function whatNext(instance: Instance, kubeconfig: string): string {
  return `
It all works. To explore:

  export PATH=${binDirectory(instance)}:$PATH
  export MANAGEMENT=${kubeconfigPath(instance)}
  export HOSTED=${kubeconfig}
  kubectl --kubeconfig $HOSTED get nodes,pods --all-namespaces
  kubectl --kubeconfig $HOSTED exec deployment/hello -- wget -qO- http://hello
  kubectl --kubeconfig $MANAGEMENT --namespace demo get cluster,hostedcontrolplane,tlsroute,pods
  npm run testbed -- worker add demo --namespace demo

The Cluster does not become Available for Cluster API, because it has no infrastructure; its control plane is.
npm run demo -- --down removes it all`;
}

/** A kubeconfig for this host, which does not resolve the names of the Gateway. */
async function kubeconfigFor(instance: Instance, client: KubeClient): Promise<string> {
  const api = await openHostedApi(instance, client, name);
  await api.client.connection.close();
  return api.kubeconfig;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
