import { expect } from 'vitest';
import { clusterNameLabel } from '../../../constructs/api/group.ts';
import {
  ConfigMap,
  Deployment,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  ResourceQuota,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { readWarnings } from '../../../reconciler/clusters/management/warnings.ts';
import { clusterName } from '../scope.ts';
import {
  type AnyObject,
  configMap,
  deployment,
  failure,
  type KubeCaseContext,
  us,
  volumeClaim,
  waitingPod,
} from './kube-case.ts';

/** What such a case works with: a client of an administrator. */
type Context = Pick<KubeCaseContext, 'client' | 'namespace' | 'eventually'>;

/** Something that controllers do, whether they are real ones or in memory. */
interface ControllerCase {
  readonly name: string;
  readonly run: (context: Context) => Promise<void>;
}

const mine = 'example.org/mine';

/** A ConfigMap with owners, which block the deletion of these or not. */
async function dependent(
  context: Context,
  name: string,
  owners: readonly { readonly owner: KubeObject; readonly blocks?: boolean }[],
  finalizers: readonly string[] = [],
): Promise<KubeObject> {
  const ownerReferences = owners.map(({ owner: { apiVersion, kind, metadata }, blocks = false }) => {
    return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '', blockOwnerDeletion: blocks };
  });
  return context.client.create(configMap(context, {}, { name, ownerReferences, finalizers }), us);
}

const find = ({ client, namespace }: Context, name: string) => client.find(ConfigMap, { namespace, name });
const isGone = (context: Context, name: string) => async () => !(await find(context, name));
const free = ({ client, namespace }: Context, name: string) =>
  client.mergePatch(ConfigMap, { namespace, name }, { metadata: { finalizers: null } }, us);

/** A quota, once its controller has counted what it limits. */
async function quota(context: Context, hard: Readonly<Record<string, string>>): Promise<void> {
  const { client, namespace, eventually } = context;
  const { apiVersion, kind } = ResourceQuota;
  await client.create({ apiVersion, kind, metadata: { name: 'quota', namespace }, spec: { hard } }, us);
  await eventually('the quota to be counted', async () => (await statusOf(context)).used !== undefined);
}

async function statusOf({ client, namespace }: Context): Promise<{ used?: Readonly<Record<string, string>> }> {
  const found = await client.get<AnyObject>(ResourceQuota, { namespace, name: 'quota' });
  return found['status'] ?? {};
}

const limited = (cpu: string, memory: string): object => ({ resources: { limits: { cpu, memory } } });

/** What controllers of Kubernetes do with objects of this product, beside its pods. */
export const controllerCases: readonly ControllerCase[] = [
  {
    name: 'deletes all dependents in a foreground deletion while their owner still has a finalizer',
    async run(context) {
      const { client, eventually } = context;
      const owner = await client.create(configMap(context, {}, { name: 'owner', finalizers: [mine] }), us);
      const child = await dependent(context, 'child', [{ owner, blocks: true }]);
      await dependent(context, 'grandchild', [{ owner: child, blocks: true }]);
      await dependent(context, 'unblocking', [{ owner }]);
      await client.delete(ConfigMap, owner.metadata, { propagationPolicy: 'Foreground' });
      for (const name of ['child', 'grandchild', 'unblocking'])
        await eventually(`${name} to go`, isGone(context, name));
      const hasOnlyMine = async () => (await find(context, 'owner'))?.metadata.finalizers?.join() === mine;
      await eventually('the owner to have only its own finalizer', hasOnlyMine);
      await free(context, 'owner');
      await eventually('the owner to go', isGone(context, 'owner'));
    },
  },
  {
    name: 'keeps an owner that is deleted in the foreground for dependents that block it, and for no others',
    async run(context) {
      const { client, eventually } = context;
      const owner = await client.create(configMap(context, {}, { name: 'owner' }), us);
      await dependent(context, 'blocking', [{ owner, blocks: true }], [mine]);
      await dependent(context, 'other', [{ owner }], [mine]);
      await client.delete(ConfigMap, owner.metadata, { propagationPolicy: 'Foreground' });
      for (const name of ['blocking', 'other'])
        await eventually(`${name} to be deleted`, async () => (await find(context, name))?.metadata.deletionTimestamp);
      expect((await find(context, 'owner'))?.metadata.finalizers).toEqual(['foregroundDeletion']);
      await free(context, 'blocking');
      await eventually('the owner to go', isGone(context, 'owner'));
      expect(await find(context, 'other')).toBeDefined();
      await free(context, 'other');
    },
  },
  {
    name: 'keeps a dependent that has another owner, and takes the reference to the deleted one away',
    async run(context) {
      const { client, eventually } = context;
      const one = await client.create(configMap(context, {}, { name: 'owner' }), us);
      const other = await client.create(configMap(context, {}, { name: 'other' }), us);
      await dependent(context, 'shared', [{ owner: one, blocks: true }, { owner: other }]);
      await client.delete(ConfigMap, one.metadata, { propagationPolicy: 'Foreground' });
      await eventually('the owner to go', isGone(context, 'owner'));
      const owners = async () => (await find(context, 'shared'))?.metadata.ownerReferences?.map(({ name }) => name);
      await eventually('the reference to go', async () => (await owners())?.join() === 'other');
    },
  },
  {
    name: 'keeps the dependents of an owner that is deleted without them',
    async run(context) {
      const { client, eventually } = context;
      const owner = await client.create(configMap(context, {}, { name: 'owner' }), us);
      await dependent(context, 'child', [{ owner, blocks: true }]);
      await client.delete(ConfigMap, owner.metadata, { propagationPolicy: 'Orphan' });
      await eventually('the owner to go', isGone(context, 'owner'));
      expect((await find(context, 'child'))?.metadata.ownerReferences ?? []).toEqual([]);
    },
  },
  {
    name: 'keeps a deleted volume claim until the last pod that uses it is gone',
    async run(context) {
      const { client, namespace, eventually } = context;
      await client.create(volumeClaim(context, '1Gi', 'used'), us);
      await client.create(volumeClaim(context, '1Gi', 'unused'), us);
      const pod = waitingPod(context);
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'used' } }];
      const { schedulingGates: _, ...spec } = pod['spec'] as { schedulingGates: object };
      await client.create({ ...pod, spec: { ...spec, volumes, nodeName: 'nowhere' } }, us);
      for (const name of ['used', 'unused']) await client.delete(PersistentVolumeClaim, { namespace, name });
      const claim = (name: string) => client.find(PersistentVolumeClaim, { namespace, name });
      await eventually('the unused claim to go', async () => !(await claim('unused')));
      const { metadata } = (await claim('used')) ?? {};
      expect([metadata?.deletionTimestamp, metadata?.finalizers]).toEqual([
        expect.any(String),
        ['kubernetes.io/pvc-protection'],
      ]);
      await client.delete(Pod, { namespace, name: 'one' }, { gracePeriodSeconds: 0 });
      await eventually('the claim to go', async () => !(await claim('used')));
    },
  },
  {
    name: 'refuses a pod that does not say what a quota counts, and one that exceeds it; what is only tried is not counted',
    async run(context) {
      const { client } = context;
      await quota(context, { 'limits.cpu': '2', 'limits.memory': '2Gi', 'requests.cpu': '1500m', pods: '9' });
      const bare = await failure(client.create(waitingPod(context), us));
      expect(bare).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(bare.message).toContain(
        'pods "one" is forbidden: failed quota: quota: must specify limits.cpu for: main; limits.memory for: main; requests.cpu for: main',
      );
      const pod = waitingPod(context, limited('1', '1Gi'));
      for (let tries = 0; tries < 2; tries++) await client.create(pod, { ...us, dryRun: true });
      await client.create(pod, us);
      await context.eventually('the pod to be counted', async () => (await statusOf(context)).used?.['pods'] === '1');
      expect((await statusOf(context)).used).toEqual({
        'limits.cpu': '1',
        'limits.memory': '1Gi',
        'requests.cpu': '1',
        pods: '1',
      });
      const more = await failure(client.create(waitingPod(context, limited('1', '512Mi'), 'more'), us));
      expect(more.message).toContain(
        'pods "more" is forbidden: exceeded quota: quota, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1500m',
      );
      const again = await failure(client.create(pod, { ...us, dryRun: true }));
      expect(again.message).toContain('pods "one" is forbidden: exceeded quota: quota, requested: requests.cpu=1');
    },
  },
  {
    name: 'makes no pods that a quota refuses, and says so on a Deployment and in an event of a StatefulSet',
    async run(context) {
      const { client, namespace, eventually } = context;
      await quota(context, { 'limits.cpu': '2' });
      const labels = { [clusterNameLabel]: clusterName };
      const made = deployment(context);
      await client.create({ ...made, metadata: { ...made.metadata, labels } }, us);
      const words = /^pods "one-\S+" is forbidden: failed quota: quota: must specify limits.cpu for: main$/;
      const failed = await eventually('the failure', async () => {
        const { status = {} } = await client.get<AnyObject & { status?: { conditions?: Condition[] } }>(Deployment, {
          namespace,
          name: 'one',
        });
        return status.conditions?.find(({ type }) => type === 'ReplicaFailure');
      });
      expect(failed).toMatchObject({ status: 'True', reason: 'FailedCreate', message: expect.stringMatching(words) });
      const { metadata, spec } = made as unknown as { metadata: KubeObject['metadata']; spec: object };
      const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { ...metadata, labels } };
      const { metadata: stored } = await client.create(
        { ...set, spec: { ...spec, serviceName: 'one', replicas: 1 } },
        us,
      );
      const event = await eventually('the event', async () => {
        const now = new Date(stored.creationTimestamp ?? '');
        const [warning] = await readWarnings(client, { namespace, now }, [
          { uid: stored.uid ?? '', reason: 'FailedCreate' },
        ]);
        return warning;
      });
      expect(event.words).toBe(
        'Create Pod one-0 in StatefulSet one failed error: pods "one-0" is forbidden: failed quota: quota: must specify limits.cpu for: main',
      );
      expect((await client.list(Pod, { namespace })).items).toEqual([]);
    },
  },
  {
    name: 'deletes what is in a deleted namespace, which stays until nothing is left',
    async run(context) {
      const { client, namespace, eventually } = context;
      await client.create(configMap(context, {}, { name: 'free' }), us);
      await client.create(configMap(context, {}, { name: 'held', finalizers: [mine] }), us);
      await client.delete(Namespace, { name: namespace });
      await eventually('the content to go', isGone(context, 'free'));
      await eventually('the rest to be deleted', async () => (await find(context, 'held'))?.metadata.deletionTimestamp);
      expect(await client.find(Namespace, { name: namespace })).toBeDefined();
      await free(context, 'held');
      await eventually('the namespace to go', async () => !(await client.find(Namespace, { name: namespace })));
    },
  },
];

interface Condition {
  readonly type: string;
}
