import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { findControlPlane, readControlPlane } from '../../../reconciler/cli/control-plane.ts';
import { follow, type Progress } from '../../../reconciler/cli/follow.ts';
import type { KubernetesApi } from '../../../reconciler/kube/client.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import { repository } from '../../support/pages.ts';
import { clusterName, hostedControlPlaneObject, namespace } from '../../support/scope.ts';
import { testSession } from '../../support/test-session.ts';
import { run } from '../../tools/testbed/run.ts';

const object = hostedControlPlaneObject();

/** An API server in which nothing changes. */
const still = {
  list: async () => ({ items: [object], resourceVersion: '1' }),
  async *watch(_: unknown, { signal }: { readonly signal: AbortSignal }) {
    await once(signal, 'abort');
    yield* [];
    throw new KubeError('aborted', { code: 0, reason: 'Timeout' });
  },
} as unknown as KubernetesApi;

describe('a command that waits', () => {
  const waits = (): Progress => ({ kind: 'running', message: 'StoppingMembers: c1-etcd-0' });

  it('ends after its time limit, and says where it is and that the operation continues', async () => {
    const { session } = testSession({ client: still, namespace, now: () => 0, timeoutMs: 1 });
    await expect(follow(session, readControlPlane(object), waits)).rejects.toThrow(
      'c1 was not done after 0s, at: StoppingMembers: c1-etcd-0; the operation continues: see hcp status c1 -n team',
    );
  });

  it('that a user interrupts says that the operation continues', async () => {
    const script = `
      const { follow } = await import('./reconciler/cli/follow.ts');
      const { readControlPlane } = await import('./reconciler/cli/control-plane.ts');
      const object = ${JSON.stringify(object)};
      const client = {
        list: async () => ({ items: [object], resourceVersion: '1' }),
        async *watch() {
          setImmediate(() => process.kill(process.pid, 'SIGINT'));
          await new Promise((resolve) => setTimeout(resolve, 60_000));
        },
      };
      const terminal = { info: (line) => console.log(line), print: console.log };
      await follow({ client, namespace: 'team', terminal, now: () => 0 }, readControlPlane(object), () => ({ kind: 'running', message: 'it runs' }));`;
    const ended = run(
      ['bash', '-c', `"$1" --input-type=module --eval "$2"; echo "code $?"`, '-', process.execPath, script],
      {
        cwd: repository,
      },
    );
    expect(await ended).toBe('0s  it runs\nthe operation continues: see hcp status c1 -n team\ncode 130\n');
  });
});

describe('a control plane that is in another namespace', () => {
  const listing = (everywhere: () => Promise<unknown>) =>
    ({
      list: (_: unknown, selection: { readonly namespace?: string } = {}) =>
        selection.namespace === undefined ? everywhere() : Promise.resolve({ items: [] }),
    }) as unknown as KubernetesApi;
  const find = (client: KubernetesApi) =>
    findControlPlane(testSession({ client, namespace: 'default' }).session, clusterName);

  it('is named with it', async () => {
    const others = ['team-b', 'team-a'].map((place) => ({
      ...object,
      metadata: { ...object.metadata, namespace: place },
    }));
    await expect(find(listing(async () => ({ items: others })))).rejects.toThrow(
      'Cluster "c1" has no HostedControlPlane in namespace default; it is in team-a, team-b: add -n team-a or -n team-b',
    );
  });

  it('is not, to a user who may not list it', async () => {
    const forbidden = new KubeError(`list ${HostedControlPlane.plural}`, { code: 403, reason: 'Forbidden' });
    await expect(find(listing(() => Promise.reject(forbidden)))).rejects.toThrow(
      'in namespace default, none exists: choose another name',
    );
  });
});
