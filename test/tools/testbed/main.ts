/**
 * The testbed on the command line: a management cluster of real Kubernetes, containerd and Cluster API binaries on this
 * Linux machine, without Docker, without a registry, without a virtual machine.
 *
 *     npm run testbed -- up                    bring it up, or report that it is up
 *     export KUBECONFIG=$(npm run -s testbed -- kubeconfig)
 *     npm run testbed -- status                list what runs, and where
 *     npm run testbed -- logs [NAME]           print the end of a log; without a name list all
 *     npm run testbed -- worker add CLUSTER    add a machine that joins this hosted cluster; `worker rm` removes it
 *     npm run testbed -- addon NAME            install an add-on; without a name list all
 *     npm run testbed -- store NAME            print a Secret of this name for backups to the add-on s3
 *     npm run testbed -- minor 1.36            add the images of another minor of Kubernetes
 *     npm run testbed -- lose-management       lose the management cluster; workers continue, a new one replaces it
 *     npm run testbed -- disaster [--keep]     show how a hosted cluster with its workers survives that, from nothing
 *     npm run testbed -- down [--purge]        take it down; --purge removes packed images too
 *
 * It needs root, Debian or Ubuntu, and Go when the binaries are to be built. What it writes, and how to have several:
 *
 *     HCP_TESTBED         name of the instance, `hcp` by default; instances share nothing but the cache
 *     HCP_TESTBED_STATE   directory of the instances, /var/lib/hosted-control-plane-testbed by default
 *     HCP_TESTBED_CACHE   binaries, images: ~/.cache/hosted-control-plane-testbed by default
 *     HCP_TESTBED_BIN     directory of ready binaries to use instead of building them
 *
 * The host gets a bridge, a few routes and cgroups, all named after the instance, and nothing after `down`.
 */
import { access, rm } from 'node:fs/promises';
import { checkHealth } from './health.ts';
import { instanceFrom, kubeconfigPath, testbedLog, type Instance } from './instance.ts';
import { printLog } from './logs.ts';
import { reportTo, seconds } from './progress.ts';
import { describeStatus } from './status.ts';
import { purgeCache, takeDown } from './take-down.ts';

const usage = `usage: npm run testbed -- up | status | kubeconfig | logs [NAME] | worker add|rm CLUSTER | addon NAME | store NAME | minor MINOR | lose-management | disaster | down [--purge]`;

type Command = (instance: Instance, args: readonly string[]) => Promise<number>;

const commands: Readonly<Record<string, Command>> = {
  up: async (instance) => {
    const start = performance.now();
    const report = reportTo(testbedLog(instance), process.stderr);
    const { state } = await checkHealth(instance);
    if (state === 'up') {
      report(`${seconds(start)}  testbed ${instance.name} is up already`);
      return 0;
    }
    // what it takes to start one is loaded only when one is started: that is a second
    const { bringUp } = await import('./bring-up.ts');
    await bringUp(instance, report);
    report(`export KUBECONFIG=${kubeconfigPath(instance)}`);
    return 0;
  },
  status: async (instance) => {
    const { text, isUp } = await describeStatus(instance);
    process.stdout.write(text);
    return isUp ? 0 : 1;
  },
  kubeconfig: async (instance) => {
    await access(kubeconfigPath(instance)).catch(() => {
      throw new Error(`testbed ${instance.name} is down: npm run testbed -- up`);
    });
    console.log(kubeconfigPath(instance));
    return 0;
  },
  logs: async (instance, [name]) => printLog(instance, name),
  worker: async (instance, args) => {
    const { workerCommand } = await import('./worker-command.ts');
    return workerCommand(instance, args, reportTo(testbedLog(instance), process.stderr));
  },
  addon: async (instance, [name = '']) => {
    const { addonNames, installAddon, isAddon } = await import('./addons.ts');
    if (!isAddon(name)) {
      console.error(`add-ons: ${addonNames.join(', ')}`);
      return 2;
    }
    await installAddon(instance, name, reportTo(testbedLog(instance), process.stderr));
    return 0;
  },
  store: async (instance, [name = 'bucket']) => {
    const { objectStoreCredentials } = await import('./object-store.ts');
    const stringData = await objectStoreCredentials(instance);
    console.log(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }));
    return 0;
  },
  minor: async (instance, [minor = '']) => {
    const { addMinor } = await import('./further-minor.ts');
    await addMinor(instance, minor, reportTo(testbedLog(instance), process.stderr));
    return 0;
  },
  'lose-management': async (instance) => {
    const { loseManagement, replaceManagement } = await import('./management-loss.ts');
    const report = reportTo(testbedLog(instance), process.stderr);
    await loseManagement(instance, report);
    await replaceManagement(instance, report);
    return 0;
  },
  disaster: async (instance, args) => {
    const { disasterCommand } = await import('../../disaster/command.ts');
    return disasterCommand(instance, args, reportTo(testbedLog(instance), process.stderr));
  },
  down: async (instance, args) => {
    const report = reportTo(testbedLog(instance), process.stderr);
    const left = await takeDown(instance, report);
    if (args.includes('--purge')) {
      await purgeCache(instance);
      await rm(testbedLog(instance), { force: true });
    }
    for (const line of left) console.error(`left behind: ${line}`);
    return left.length === 0 ? 0 : 1;
  },
};

async function main([name = '', ...args]: readonly string[]): Promise<number> {
  const command = commands[name];
  if (!command) {
    console.error(usage);
    return 2;
  }
  try {
    return await command(instanceFrom(process.env), args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
