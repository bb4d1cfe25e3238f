import { createHash } from 'node:crypto';
import { Lease, Node } from '../../constructs/api/resources.ts';
import type { KubeClient } from '../../reconciler/kube/client.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import { inMachine, type Machine } from '../tools/testbed/machine.ts';
import { until } from '../tools/testbed/progress.ts';

/** Properties that would change if the worker were changed. */
export interface WorkerTraces {
  /** Every running container, with its first process: `<id> <pid>`, in order. */
  readonly containers: readonly string[];
  /** Process of the kubelet. */
  readonly kubelet: string;
  /** Digest of the certificate and key it presents. */
  readonly credentials: string;
}

export async function tracesOf(worker: Machine): Promise<WorkerTraces> {
  const tasks = await inMachine(worker, ['ctr', '--namespace=k8s.io', 'tasks', 'list']);
  const rows = tasks.split('\n').map((row) => row.trim().split(/\s+/));
  const credentials = await inMachine(worker, ['cat', '/var/lib/kubelet/pki/kubelet-client-current.pem']);
  return {
    containers: rows.flatMap(([id, pid, status]) => (status === 'RUNNING' ? [`${id} ${pid}`] : [])).toSorted(),
    kubelet: (await inMachine(worker, ['cat', '/run/services/kubelet/pid'])).trim(),
    credentials: createHash('sha256').update(credentials).digest('hex'),
  };
}

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly renewTime?: string };
}

interface NodeObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/**
 * Ends when the node is Ready and its kubelet has reported that since then: a restored Node is Ready because it was when the
 * backup was taken.
 * @param since milliseconds since the epoch
 */
export async function untilNodeReports(client: KubeClient, name: string, since: number): Promise<void> {
  await until({ what: `node ${name} Ready, by its kubelet`, timeoutMs: 600_000, intervalMs: 200 }, async () => {
    const { spec } = await client.get<LeaseObject>(Lease, { namespace: 'kube-node-lease', name });
    const { status } = await client.get<NodeObject>(Node, { name });
    const isReady = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
    return isReady && Date.parse(spec?.renewTime ?? '') > since;
  });
}
