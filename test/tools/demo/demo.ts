/**
 * `npm run demo`: from nothing to a hosted control plane with a worker that runs pods, on this machine, with real
 * binaries. Another run reuses what exists; `npm run demo -- --down` removes everything.
 */
import { parseArgs } from 'node:util';
import { installProvider } from '../../support/provider.ts';
import { installAddon } from '../testbed/addons.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { binDirectory, instanceFrom, type Instance, kubeconfigPath, testbedLog } from '../testbed/instance.ts';
import { reportTo } from '../testbed/progress.ts';
import { takeDown } from '../testbed/take-down.ts';
import { demoCluster, provision } from './provision.ts';
import { haveWorker, runHello } from './workload.ts';

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
  report('3. a Cluster and its HostedControlPlane behind the Gateway: test/tools/demo/cluster.yaml');
  const kubeconfig = await provision(instance, report);
  report('4. a worker: a machine of its own that joins by kubeadm');
  await haveWorker(instance, demoCluster, report);
  report('5. pods on it: test/tools/demo/hello.yaml');
  await runHello(instance, demoCluster, report);
  report(whatNext(instance, kubeconfig));
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

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
