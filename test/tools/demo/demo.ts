/**
 * `npm run demo`: from nothing to a hosted control plane with a worker that runs pods, on this machine, with real
 * binaries. Another run reuses what exists; `npm run demo -- --down` removes everything.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installProvider } from '../../support/provider.ts';
import { installAddon } from '../testbed/addons.ts';
import { bringUp } from '../testbed/bring-up.ts';
import { binDirectory, instanceFrom, type Instance, kubeconfigPath, testbedLog } from '../testbed/instance.ts';
import { pinnedMinors } from '../testbed/families.ts';
import { repository } from '../testbed/operator-bundle.ts';
import { reportTo } from '../testbed/progress.ts';
import { run } from '../testbed/run.ts';
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
  await installCommandLine(instance);
  report(await whatNext(instance, kubeconfig));
}

/** Puts `hcp` of this checkout next to the other programs of the testbed. */
async function installCommandLine(instance: Instance): Promise<void> {
  const program = ['node_modules/.bin/node', 'reconciler/cli/main.ts'].map((path) => `'${join(repository, path)}'`);
  await writeFile(commandLineOf(instance), `#!/bin/sh\nexec ${program.join(' ')} "$@"\n`, { mode: 0o755 });
}

const commandLineOf = (instance: Instance): string => join(binDirectory(instance), 'hcp');

async function whatNext(instance: Instance, kubeconfig: string): Promise<string> {
  const { namespace, name } = demoCluster;
  const hcp = (...args: string[]): Promise<string> =>
    run([commandLineOf(instance), ...args, '--kubeconfig', kubeconfigPath(instance)]);
  return `
$ hcp list -A
${await hcp('list', '-A')}
$ hcp status ${name} -n ${namespace}
${await hcp('status', name, '-n', namespace)}
It all works. These two lines let you type as above:

  export PATH=${binDirectory(instance)}:$PATH
  export KUBECONFIG=${kubeconfigPath(instance)}

Then, for example:

  kubectl get cluster,hcp,pods -n ${namespace}
  kubectl --kubeconfig ${kubeconfig} get nodes,pods -A
  npm run testbed -- worker add ${name} --namespace ${namespace}

It has the images of the version above only. Others are compiled and added by
npm run testbed -- minor MINOR: ${Object.keys(pinnedMinors).join(', ')}
The tutorial continues with a cluster of your own: constructs/provider/TUTORIAL.md#first-cluster
npm run demo -- --down removes it all`;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
