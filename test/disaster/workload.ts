import { clientPod, clientRights } from '../cluster/access/client-pod.ts';
import { runHello } from '../tools/demo/workload.ts';
import { hostedKubectl } from '../tools/testbed/hosted-api.ts';
import { busyboxImage } from '../tools/testbed/images.ts';
import type { Instance } from '../tools/testbed/instance.ts';
import { inMachine, type Machine } from '../tools/testbed/machine.ts';
import { type Report, step } from '../tools/testbed/progress.ts';
import { withHostedApi } from '../tools/testbed/workers.ts';
import { cluster } from './hosted-cluster.ts';

/** A pod that sends requests to its API server with the token from the kubelet. */
const asking = 'asking';
const limit = '--timeout=120s';

/** Encrypted in etcd with keys that only the API servers have. */
const sealed = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'sealed', namespace: 'default' },
  stringData: { word: 'sesame' },
};

/** Runs pods on the worker: a page of two replicas, and a client of the API; stores a Secret. Ends when all add-ons run. */
export async function runPods(instance: Instance, worker: string, report: Report): Promise<void> {
  await runHello(instance, cluster, report);
  const objects = {
    apiVersion: 'v1',
    kind: 'List',
    items: [sealed, clientRights, clientPod(instance, asking, worker)],
  };
  await step(report, 'a pod that asks the API with its token; DNS, proxies and agents rolled out', async () => {
    await hosted(instance, ['apply', '--server-side', '--filename', '-'], JSON.stringify(objects));
    await hosted(instance, ['wait', `pod/${asking}`, '--for=condition=Ready', limit]);
    for (const addon of ['deployment/coredns', 'deployment/konnectivity-agent', 'daemonset/kube-proxy']) {
      await hosted(instance, ['--namespace', 'kube-system', 'rollout', 'status', addon, limit]);
    }
  });
}

/** The token of that pod as its kubelet has written it. */
export async function tokenOfPod(instance: Instance): Promise<string> {
  const file = '/var/run/secrets/kubernetes.io/serviceaccount/token';
  return (await hosted(instance, ['exec', asking, '--', 'cat', file])).trim();
}

/** What that pod reads of its own namespace, through its own connection to the API server. */
export function askFromPod(instance: Instance): Promise<string> {
  return hosted(instance, ['exec', asking, '--', '/kubectl', 'get', 'configmap/kube-root-ca.crt', '--output=name']);
}

/** The content of the Secret. */
export async function readSealed(instance: Instance): Promise<string> {
  const word = await hosted(instance, ['get', 'secret', 'sealed', '--output', 'jsonpath={.data.word}']);
  return Buffer.from(word, 'base64').toString('utf8');
}

/** Addresses of the pods that serve the page. */
export async function pageAddresses(instance: Instance): Promise<string[]> {
  const path = 'jsonpath={.items[*].status.podIP}';
  return (await hosted(instance, ['get', 'pods', '--selector=app=hello', '--output', path])).split(' ');
}

/** Their answers to their own node, which needs no other machine. */
export async function readPages(worker: Machine, addresses: readonly string[]): Promise<string[]> {
  const ask = (address: string) =>
    inMachine(worker, ['timeout', '3', 'busybox', 'wget', '-qO-', `http://${address}:8080/`]);
  return (await Promise.all(addresses.map(ask))).map((answer) => answer.trim());
}

/** Runs a new pod to its end; returns its log. */
export async function runNewPod(instance: Instance): Promise<string> {
  const command = ['--restart=Never', '--command', '--', 'echo', 'made after the rebuild'];
  await hosted(instance, ['run', 'after', `--image=${busyboxImage}`, ...command]);
  await hosted(instance, ['wait', 'pod/after', '--for=jsonpath={.status.phase}=Succeeded', limit]);
  return (await hosted(instance, ['logs', 'after'])).trim();
}

/** A client for the administrator of the current management cluster, through the in-cluster address. */
function hosted(instance: Instance, args: readonly string[], input?: string): Promise<string> {
  return withHostedApi(instance, cluster, (api) => hostedKubectl(instance, api, args, input));
}
