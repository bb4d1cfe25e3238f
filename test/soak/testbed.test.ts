import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Cluster } from '../../imports/cluster.x-k8s.io.ts';
import { ownTestbedOn } from '../tools/run/testbeds.ts';
import { runningMachine } from '../tools/testbed/access.ts';
import { checkHealth } from '../tools/testbed/health.ts';
import { busyboxImage } from '../tools/testbed/images.ts';
import { instanceFrom, kubeconfigPath, lanAddress, loadBalancerNumbers } from '../tools/testbed/instance.ts';
import { kubectl, untilNamespaceTakesPods } from '../tools/testbed/kubectl.ts';
import { inMachine } from '../tools/testbed/machine.ts';
import { addMachine, removeMachine } from '../tools/testbed/node-machines.ts';
import { until, type Report } from '../tools/testbed/progress.ts';
import { signalService } from '../tools/testbed/service.ts';
import { bringUp } from '../tools/testbed/bring-up.ts';
import { takeDown } from '../tools/testbed/take-down.ts';

const instance = instanceFrom(process.env, inject('testbed'));
const namespace = 'testbed-test';
const silent: Report = () => {};

const inNamespace = (...args: string[]): Promise<string> => kubectl(instance, ['--namespace', namespace, ...args]);

const apply = (...objects: object[]): Promise<string> =>
  kubectl(
    instance,
    ['--namespace', namespace, 'apply', '--filename', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  );

beforeAll(async () => {
  const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: enforce } });
  await untilNamespaceTakesPods(instance, namespace);
  await apply(
    { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: claimSpec('1Gi') },
    serverPod(),
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { type: 'LoadBalancer', selector: { app: 'server' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  );
  await inNamespace('wait', 'pod/server', '--for=condition=Ready', '--timeout=60s');
});

afterAll(async () => {
  await kubectl(instance, ['delete', 'namespace', namespace]);
});

test('a pod resolves a Service and the API server by name', async () => {
  const names = [`web.${namespace}.svc.cluster.local`, 'kubernetes.default.svc.cluster.local'];
  for (const name of names) {
    // Endpoints of DNS and their rules are complete a moment after the pod is Ready.
    const answer = await until({ what: `an answer to ${name}`, timeoutMs: 60_000 }, () =>
      inNamespace('exec', 'server', '--', 'nslookup', name),
    );
    expect(answer).toContain(`Name:\t${name}`);
  }
});

test('a pod reads its own page through the Service, on its own node', async () => {
  // Its endpoint and rules are complete a moment after the pod is Ready.
  const answer = await until({ what: 'a page through the Service', timeoutMs: 60_000 }, () =>
    inNamespace('exec', 'server', '--', 'timeout', '3', 'wget', '-qO-', 'http://web/'),
  );
  expect(answer.trim()).toBe('written as 65532');
});

test('a claim is bound to a volume that a pod without root writes to', async () => {
  expect(await inNamespace('get', 'pvc', 'data', '--output', 'jsonpath={.status.phase}')).toBe('Bound');
  expect(await inNamespace('exec', 'server', '--', 'cat', '/data/index.html')).toContain('written as 65532');
});

test('a claim that requests more is expanded while it is in use', async () => {
  const patch = JSON.stringify({ spec: claimSpec('3Gi') });
  await inNamespace('patch', 'pvc', 'data', '--type=merge', `--patch=${patch}`);
  const capacity = '--for=jsonpath={.status.capacity.storage}=3Gi';
  await inNamespace('wait', 'pvc/data', capacity, '--timeout=60s');
  const volume = await inNamespace('get', 'pvc', 'data', '--output', 'jsonpath={.spec.volumeName}');
  expect(await kubectl(instance, ['get', 'pv', volume, '--output', 'jsonpath={.spec.capacity.storage}'])).toBe('3Gi');
});

test('a volume is deleted with its claim', async () => {
  await apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'brief' }, spec: claimSpec('1Gi') });
  await inNamespace('wait', 'pvc/brief', '--for=jsonpath={.status.phase}=Bound', '--timeout=60s');
  const volume = await inNamespace('get', 'pvc', 'brief', '--output', 'jsonpath={.spec.volumeName}');
  await inNamespace('delete', 'pvc', 'brief');
  const gone = ['wait', `pv/${volume}`, '--for=delete', '--timeout=60s'];
  await expect(kubectl(instance, gone)).resolves.not.toThrow();
});

test('the address of a LoadBalancer answers from the host', async () => {
  expect(await pageOf(await addressOf('web'))).toBe('written as 65532\n');
});

test('a LoadBalancer gets the address it requests, and releases it', async () => {
  const address = lanAddress(instance, loadBalancerNumbers.last);
  const spec = {
    type: 'LoadBalancer',
    loadBalancerIP: address,
    selector: { app: 'server' },
    ports: [{ port: 81, targetPort: 8080 }],
  };
  await apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'asking' }, spec });
  expect(await addressOf('asking')).toBe(address);
  await inNamespace('delete', 'service', 'asking');
  await until({ what: `${address} to be silent`, timeoutMs: 60_000 }, async () => !(await isReachable(address, 81)));
});

test("Cluster API's webhook refuses an invalid Cluster", async () => {
  const spec = { clusterNetwork: { pods: { cidrBlocks: ['not an address'] } } };
  const cluster = Cluster.manifest({ metadata: { name: 'refused' }, spec });
  await expect(apply(cluster)).rejects.toThrow('invalid CIDR address: not an address');
});

describe.for(['kubelet', 'containerd', 'kube-proxy', 'etcd', 'kube-apiserver'])('after %s was killed', (service) => {
  test('it is restarted, its pods kept running, and new ones start', async () => {
    const machine = await runningMachine(instance, 'm');
    await signalService(machine, service, 'KILL');
    const pod = { ...serverPod(), metadata: { name: `after-${service}` } };
    await until({ what: `a pod after ${service} was killed`, timeoutMs: 60_000, intervalMs: 200 }, async () => {
      await apply(pod);
      await inNamespace('wait', `pod/after-${service}`, '--for=condition=Ready', '--timeout=60s');
      return true;
    });
    const restarts = 'jsonpath={.status.containerStatuses[0].restartCount}';
    expect(await inNamespace('get', 'pod', 'server', '--output', restarts)).toBe('0');
  });
});

test('machines added at the same time have the images, and reach the API server and pods on other nodes', async () => {
  const names = ['extra1', 'extra2'];
  const machines = await Promise.all(names.map((name) => addMachine(instance, name)));
  const pod = await inNamespace('get', 'pod', 'server', '--output', 'jsonpath={.status.podIP}');
  for (const machine of machines) {
    expect(await inMachine(machine, ['ctr', '--namespace=k8s.io', 'images', 'list', '--quiet'])).toContain(
      busyboxImage,
    );
    const question = ['kubectl', '--kubeconfig', kubeconfigPath(instance), 'get', '--raw', '/readyz'] as const;
    expect(await inMachine(machine, question)).toBe('ok');
    expect(await inMachine(machine, ['busybox', 'wget', '-qO-', `http://${pod}:8080/`])).toBe('written as 65532\n');
  }
  expect(await Promise.all(names.map((name) => removeMachine(instance, name)))).toEqual([[], []]);
});

test('up does not change a working testbed', async () => {
  const before = await runningMachine(instance, 'm');
  await bringUp(instance, silent);
  expect(await runningMachine(instance, 'm')).toEqual(before);
});

test('a second testbed beside the first is created again after a crash, and down leaves nothing of it', async () => {
  const second = instanceFrom(process.env, ownTestbedOn(instance.name, 'two'));
  await bringUp(second, silent);
  process.kill((await runningMachine(second, 'm')).pid, 'SIGKILL');
  await until({ what: 'it to be broken', timeoutMs: 60_000 }, async () => {
    return (await checkHealth(second)).state === 'broken';
  });
  await bringUp(second, silent);
  expect(await kubectl(second, ['get', 'node', 'm', '--output', 'name'])).toBe('node/m\n');
  expect(await takeDown(second, silent)).toEqual([]);
  expect(await checkHealth(second)).toEqual({ state: 'down' });
  expect(await checkHealth(instance)).toEqual({ state: 'up' });
});

function claimSpec(storage: string): object {
  return { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } };
}

/** A web server that first writes its page to a volume, under the strictest pod security. */
function serverPod(): object {
  const script =
    'test -s /data/index.html || echo "written as $(id -u)" >/data/index.html; exec httpd -f -p 8080 -h /data';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'server', labels: { app: 'server' } },
    spec: {
      terminationGracePeriodSeconds: 0,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 65532,
        fsGroup: 65532,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'server',
          image: busyboxImage,
          command: ['sh', '-c', script],
          readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    },
  };
}

async function addressOf(service: string): Promise<string> {
  const path = '{.status.loadBalancer.ingress[0].ip}';
  await inNamespace('wait', `service/${service}`, `--for=jsonpath=${path}`, '--timeout=60s');
  return inNamespace('get', 'service', service, '--output', `jsonpath=${path}`);
}

async function pageOf(address: string): Promise<string> {
  return until({ what: `a page of ${address}`, timeoutMs: 60_000 }, async () =>
    (await fetch(`http://${address}/`, { signal: AbortSignal.timeout(1_000) })).text(),
  );
}

async function isReachable(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 500 });
    const answer = (reachable: boolean) => (): void => {
      socket.destroy();
      resolve(reachable);
    };
    socket.once('connect', answer(true));
    socket.once('timeout', answer(false));
    socket.once('error', answer(false));
  });
}
