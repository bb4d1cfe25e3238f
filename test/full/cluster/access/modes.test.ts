import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { byEnvironment, byName, clientPod, clientRights } from '../../../cluster/access/client-pod.ts';
import {
  apiServerNames,
  changeAccess,
  defaultServiceAccount,
  inPod as inPodOf,
  startClient as startClientOn,
  whoAmI as whoAmIIn,
} from '../../../cluster/access/in-cluster-client.ts';
import { servedCertificate } from '../../../cluster/access/served-certificate.ts';
import {
  borrowJoinableCluster,
  giveBack,
  type JoinedWorker,
  type LentCluster,
} from '../../../cluster/workers/joinable-cluster.ts';
import { until } from '../../../support/until.ts';
import { clustersDomain, gatewayAddress } from '../../../tools/testbed/gateway-address.ts';
import { binDirectory } from '../../../tools/testbed/instance.ts';
import { kubectl } from '../../../tools/testbed/kubectl.ts';

let cluster: LentCluster;
let namespace: string;
let host: string;
/** A node that accepts no pod without a toleration. */
let tainted: JoinedWorker;

beforeAll(async () => {
  cluster = await borrowJoinableCluster({ restartsPods: true });
  ({ namespace } = cluster.bench);
  host = `hosted.${namespace}.${clustersDomain}`;
  [tainted] = cluster.workers;
  await cluster.kubectl(['taint', 'node', tainted.name, ...taint('')]);
  await cluster.apply(clientRights);
});
afterAll(() => giveBack(cluster, undo));

async function undo(): Promise<void> {
  const clients = ['by-proxy', 'by-load-balancer'].map((name) => clientPod(cluster.instance, name, tainted.name));
  const written = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default', name: 'after-renewal' } };
  await cluster.remove(...clients, clientRights, written);
  await cluster.kubectl(['taint', 'node', tainted.name, ...taint('-')]);
  await cluster.bench.undo();
}

/** @param end is `-` to remove them */
function taint(end: '' | '-'): string[] {
  return ['NoSchedule', 'NoExecute'].map((effect) => `dedicated=gpu:${effect}${end}`);
}

describe('by proxy', () => {
  const client = 'by-proxy';
  beforeAll(async () => {
    await changeAccess(cluster, 'Proxy');
    await cluster.kubectl(['rollout', 'status', 'daemonset/hosted-control-plane-proxy', '--timeout=180s']);
    await startClient(client);
  });

  test('every node has one, whatever its taints', async () => {
    const path = 'jsonpath={.items[*].spec.nodeName}';
    const nodes = await cluster.kubectl(['get', 'pods', `--selector=${proxies}`, '--output', path]);
    expect(nodes.split(' ').length).toBe(2);
    expect(nodes.split(' ')).toContain(tainted.name);
  });

  test.each(apiServerNames)('a pod connects to the API server as %s, and gets its certificate', async (name) => {
    expect(await whoAmI(client, byName(name))).toBe(defaultServiceAccount);
  });

  test('a pod connects by its environment, without cluster DNS', async () => {
    await cluster.setPaused(true);
    await cluster.kubectl(['--namespace', 'kube-system', 'scale', 'deployment/coredns', '--replicas=0']);
    await until('CoreDNS to be gone', async () => {
      const pods = ['--namespace', 'kube-system', 'get', 'pods', '--selector=k8s-app=kube-dns', '--output', 'name'];
      return (await cluster.kubectl(pods)) === '';
    });
    try {
      expect(await whoAmI(client, byEnvironment)).toBe(defaultServiceAccount);
      await expect(whoAmI(client, byName('kubernetes.default.svc'), 10)).rejects.toThrow('exit code');
    } finally {
      await cluster.setPaused(false);
    }
  });

  test('a watch continues when the certificate of the tunnel is renewed', async () => {
    const serial = async () =>
      (await servedCertificate(gatewayAddress(cluster.instance), `tunnel.${host}`)).serialNumber;
    const before = await serial();
    const watch = startWatch(client);
    try {
      await until('the watch to have begun', () => watch.seen('kube-root-ca.crt'));
      await kubectl(cluster.instance, ['--namespace', namespace, 'delete', 'secret', 'hosted-tunnel']);
      // The kubelet remounts Secrets at once when the pod changes, and otherwise within a minute and a half.
      await until('the certificate to be issued again', () =>
        kubectl(cluster.instance, ['--namespace', namespace, 'get', 'secret', 'hosted-tunnel']).catch(() => undefined),
      );
      const pods = ['--selector=app.kubernetes.io/component=api-server', 'remount=now', '--overwrite'];
      await kubectl(cluster.instance, ['--namespace', namespace, 'annotate', 'pods', ...pods]);
      await until(
        'the tunnel to serve another certificate',
        async () => (await serial().catch(() => before)) !== before,
        120_000,
      );
      await cluster.kubectl(['create', 'configmap', 'after-renewal']);
      await until('the watch to report the ConfigMap', () => watch.seen('after-renewal'));
      expect(watch.hasEnded()).toBe(false);
    } finally {
      watch.stop();
    }
  });

  test('no connection is refused while every proxy is replaced', async () => {
    const ask = `timeout 60 ${byEnvironment} get configmap kube-root-ca.crt --output=name || echo "exit code $?"`;
    const asking = inPod(client, `rm -f /tmp/enough; until [ -e /tmp/enough ]; do ${ask}; done`);
    await cluster.kubectl(['rollout', 'restart', 'daemonset/hosted-control-plane-proxy']);
    await cluster.kubectl(['rollout', 'status', 'daemonset/hosted-control-plane-proxy', '--timeout=180s']);
    await inPod(client, 'touch /tmp/enough');
    const answers = (await asking).trim().split('\n');
    expect(new Set(answers)).toEqual(new Set(['configmap/kube-root-ca.crt']));
  });

  test('a pod connects to the API server again after its proxy was killed', async () => {
    const own = [`--selector=${proxies}`, `--field-selector=spec.nodeName=${tainted.name}`];
    const killed = await cluster.kubectl(['delete', 'pods', ...own, '--grace-period=0', '--force', '--output=name']);
    expect(killed).toContain('pod/hosted-control-plane-proxy-');
    await until('another proxy', async () => {
      const [running = ''] = (await cluster.kubectl(['get', 'pods', ...own, '--output', 'name'])).split('\n');
      return running !== '' && !killed.includes(running);
    });
    const user = await until('an answer', () => whoAmI(client, byEnvironment, 10).catch(() => undefined));
    expect(user).toBe(defaultServiceAccount);
  });
});

describe('by load balancer', () => {
  beforeAll(async () => {
    await changeAccess(cluster, 'LoadBalancer');
    await startClient('by-load-balancer');
  });

  test('nothing is left of the proxies', async () => {
    await until('the kubernetes Service to point only to the load balancer', async () => {
      const endpoints = await endpointsOfKubernetes().catch(() => []);
      return endpoints.length === 1 && endpoints[0] === (await loadBalancerAddress());
    });
    expect(await cluster.kubectl(['get', 'daemonset', '--output', 'name'])).toBe('');
  });

  test('a pod connects to the address of the kubernetes Service by environment and by name', async () => {
    for (const command of [byEnvironment, ...apiServerNames.map(byName)]) {
      expect(await whoAmI('by-load-balancer', command)).toBe(defaultServiceAccount);
    }
  });
});

const proxies = 'app.kubernetes.io/name=hosted-control-plane-proxy';

function startClient(name: string): Promise<void> {
  return startClientOn(cluster, name, tainted.name);
}

function whoAmI(pod: string, command: string, limitSeconds?: number): Promise<string> {
  return whoAmIIn(cluster, pod, command, limitSeconds);
}

function inPod(pod: string, script: string): Promise<string> {
  return inPodOf(cluster, pod, script);
}

/** The endpoints of the kubernetes Service, without empty slices. */
async function endpointsOfKubernetes(): Promise<string[]> {
  const slices = ['get', 'endpointslices', '--selector=kubernetes.io/service-name=kubernetes'];
  const addresses = await cluster.kubectl([...slices, '--output', 'jsonpath={.items[*].endpoints[*].addresses[*]}']);
  return addresses.split(' ').filter((address) => address !== '');
}

async function loadBalancerAddress(): Promise<string> {
  const address = ['get', 'service', 's-hosted', '--output', 'jsonpath={.status.loadBalancer.ingress[0].ip}'];
  return kubectl(cluster.instance, ['--namespace', namespace, ...address]);
}

interface Watch {
  seen(text: string): boolean;
  hasEnded(): boolean;
  stop(): void;
}

/** Watches the ConfigMaps of namespace `default` from within a pod. */
function startWatch(pod: string): Watch {
  const { instance, api } = cluster;
  const command = [byEnvironment, 'get', 'configmaps', '--watch', '--output=name'];
  const args = ['--kubeconfig', api.kubeconfig, 'exec', pod, '--', ...command];
  const child = spawn(join(binDirectory(instance), 'kubectl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return {
    seen: (text) => output.includes(text),
    hasEnded: () => child.exitCode !== null,
    stop: () => void child.kill(),
  };
}
