import { Resolver } from 'node:dns/promises';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Node } from '../../../constructs/api/resources.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { applyObjects } from './apply-objects.ts';
import { dnsAddress, type Instance } from './instance.ts';
import { inMachine, type Machine } from './machine.ts';
import { managementObjects } from './management-objects.ts';
import {
  apiServerCommand,
  controllerManagerCommand,
  etcdCommand,
  etcdReadyUrl,
  kubeletCommand,
  kubeletConfig,
  kubeProxyCommand,
  kubeProxyConfig,
  schedulerCommand,
} from './management-services.ts';
import { step, until, type Report } from './progress.ts';
import { serviceLog, startService } from './service.ts';

interface NodeObject extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Starts the management cluster on its machine, once the credentials are written; ends when its node is Ready. */
export async function startManagement(machine: Machine, client: KubeClient, report: Report): Promise<void> {
  const { instance } = machine;
  await startService(machine, 'etcd', etcdCommand(instance));
  await step(report, 'etcd', () =>
    until({ what: 'etcd', timeoutMs: 20_000, intervalMs: 10, log: serviceLog(machine, 'etcd') }, async () => {
      await inMachine(machine, ['busybox', 'wget', '-qO', '/dev/null', etcdReadyUrl]);
      return true;
    }),
  );
  await startService(machine, 'kube-apiserver', apiServerCommand(instance));
  await startNode(machine);
  await step(report, 'API server', () => untilServing(machine, client));
  // not earlier: they would exit without RBAC, or wait in a client's back-off
  await startService(machine, 'kube-controller-manager', controllerManagerCommand(instance));
  await startService(machine, 'kube-scheduler', schedulerCommand(instance));
  await applyObjects(client, await managementObjects(instance));
  await step(report, 'node m Ready', () => untilNodeReady(machine, client));
}

/** Ends when a name of the cluster can be resolved as a pod would do it. */
export async function untilDnsAnswers(instance: Instance): Promise<void> {
  const resolver = new Resolver({ timeout: 300, tries: 1 });
  resolver.setServers([dnsAddress(instance)]);
  const expectation = { what: `DNS at ${dnsAddress(instance)} (kubectl -n kube-system get pods)`, timeoutMs: 60_000 };
  await until(expectation, async () => {
    const addresses = await resolver.resolve4('kubernetes.default.svc.cluster.local');
    return addresses.length > 0;
  });
}

async function startNode(machine: Machine): Promise<void> {
  const { instance } = machine;
  const directory = join(instance.directory, 'management');
  const [kubelet, kubeProxy] = [join(directory, 'kubelet.yaml'), join(directory, 'kube-proxy.yaml')];
  await mkdir(directory, { recursive: true });
  await writeFile(kubelet, kubeletConfig(instance));
  await writeFile(kubeProxy, kubeProxyConfig(instance));
  await startService(machine, 'kubelet', kubeletCommand(instance, kubelet));
  await startService(machine, 'kube-proxy', kubeProxyCommand(instance, kubeProxy));
}

async function untilServing(machine: Machine, client: KubeClient): Promise<void> {
  const log = serviceLog(machine, 'kube-apiserver');
  await until({ what: 'the API server', timeoutMs: 60_000, log }, async () => {
    const answer = await client.raw('/readyz', { deadlineMs: 1_000 });
    return answer === 'ok';
  });
}

async function untilNodeReady(machine: Machine, client: KubeClient): Promise<void> {
  await until({ what: 'node m Ready', timeoutMs: 60_000, log: serviceLog(machine, 'kubelet') }, async () => {
    const node = await client.find<NodeObject>(Node, { name: machine.name });
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
  });
}
