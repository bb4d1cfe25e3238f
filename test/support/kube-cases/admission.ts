import { expect } from 'vitest';
import { ConfigMap, Namespace, PersistentVolumeClaim, Pod } from '../../../constructs/api/resources.ts';
import { LimitRange } from '../memory-cluster/admission/limit-ranges.ts';
import { PriorityClass } from '../memory-cluster/admission/priorities.ts';
import { enforceLabel } from '../memory-cluster/admission/pod-security.ts';
import {
  type AnyObject,
  configMap,
  deployment,
  failure,
  type KubeCase,
  type KubeCaseContext,
  us,
  volumeClaim,
  waitingPod,
} from './kube-case.ts';

function limitRange({ client, namespace }: KubeCaseContext, ...limits: object[]): Promise<unknown> {
  const { apiVersion, kind } = LimitRange;
  const object = { apiVersion, kind, metadata: { name: 'range', namespace }, spec: { limits } };
  return client.apply(object, { ...us, resource: LimitRange });
}

const limited = (cpu: string, memory: string): object => ({ resources: { limits: { cpu, memory } } });

/** What an API server refuses, and changes, before it stores an object. */
export const admissionCases: readonly KubeCase[] = [
  {
    name: 'creates nothing in a namespace that is being deleted, and still changes and deletes what is there',
    async run(context) {
      const { client, namespace, eventually } = context;
      const { metadata } = await client.create(configMap(context, {}, { finalizers: ['example.org/mine'] }), us);
      await client.delete(Namespace, { name: namespace });
      const create = () => client.create(configMap(context, {}, { name: 'late' }), us);
      const error = await eventually('the refusal', () =>
        create().then(
          () => undefined,
          (refused: unknown) => refused,
        ),
      );
      expect(error).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: `create ConfigMap ${namespace}/late: configmaps "late" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }],
      });
      const applied = await failure(client.apply(configMap(context, {}, { name: 'late' }), us));
      expect(applied).toMatchObject({ code: 403, reason: 'Forbidden' });
      await client.mergePatch(ConfigMap, metadata, { metadata: { finalizers: null } }, us);
    },
  },
  {
    name: 'gives containers the default resources of a LimitRange, and requests what is limited',
    async run(context) {
      const { client } = context;
      await limitRange(context, {
        type: 'Container',
        max: { cpu: '4', memory: '4Gi' },
        default: { cpu: '2' },
        defaultRequest: { memory: '1Gi' },
      });
      const bare = await client.create(waitingPod(context), us);
      expect(resourcesOfFirst(bare)).toEqual({
        limits: { cpu: '2', memory: '4Gi' },
        requests: { cpu: '2', memory: '1Gi' },
      });
      const own = await client.create(waitingPod(context, limited('1', '2Gi'), 'own'), us);
      expect(resourcesOfFirst(own)).toEqual({
        limits: { cpu: '1', memory: '2Gi' },
        requests: { cpu: '1', memory: '2Gi' },
      });
    },
  },
  {
    name: 'refuses pods above the maxima of a LimitRange, also when they are only tried',
    async run(context) {
      const { client, namespace } = context;
      await limitRange(context, { type: 'Container', max: { cpu: '1' } }, { type: 'Pod', max: { memory: '1Gi' } });
      const large = waitingPod(context, limited('2', '2Gi'));
      const words =
        'pods "one" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Pod is 1Gi, but limit is 2Gi]';
      const error = await failure(client.create(large, us));
      expect(error).toMatchObject({ code: 403, reason: 'Forbidden', message: `create Pod ${namespace}/one: ${words}` });
      const tried = await failure(client.apply(large, { ...us, dryRun: true }));
      expect(tried).toMatchObject({ code: 403, message: `apply Pod ${namespace}/one: ${words}` });
      const unlimited = await failure(client.create(waitingPod(context, { resources: { limits: { cpu: '1' } } }), us));
      expect(unlimited.message).toContain('maximum memory usage per Pod is 1Gi.  No limit is specified');
      const { metadata } = await client.apply(waitingPod(context, limited('1', '1Gi')), { ...us, dryRun: true });
      expect(await client.find(Pod, metadata)).toBeUndefined();
    },
  },
  {
    name: 'tries to create an object with its admission and stores nothing, and looks last whether its name is taken',
    async run(context) {
      const { client, namespace } = context;
      await limitRange(context, { type: 'Container', max: { cpu: '1' }, default: { cpu: '500m' } });
      const tryOne = (pod: AnyObject) => client.create(pod, { ...us, dryRun: true });
      const small = waitingPod(context);
      expect(resourcesOfFirst(await tryOne(small))).toMatchObject({ limits: { cpu: '500m' } });
      expect(await client.find(Pod, { namespace, name: 'one' })).toBeUndefined();
      await client.create(small, us);
      expect(await failure(tryOne(small))).toMatchObject({ code: 409, reason: 'AlreadyExists' });
      for (const refused of [
        await failure(tryOne(waitingPod(context, limited('2', '1Gi')))),
        await failure(client.create(waitingPod(context, limited('2', '1Gi')), us)),
      ]) {
        expect(refused).toMatchObject({ code: 403, reason: 'Forbidden' });
        expect(refused.message).toBe(
          `create Pod ${namespace}/one: pods "one" is forbidden: maximum cpu usage per Container is 1, but limit is 2`,
        );
      }
    },
  },
  {
    name: 'refuses pods of a PriorityClass that does not exist, also when they are only tried',
    async run(context) {
      const { client, namespace, eventually } = context;
      const name = `class-${namespace}`;
      const pod = waitingPod(context);
      const urgent = { ...pod, spec: { ...(pod['spec'] as object), priorityClassName: name } };
      const error = await failure(client.create(urgent, { ...us, dryRun: true }));
      expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(error.message).toBe(
        `create Pod ${namespace}/one: pods "one" is forbidden: no PriorityClass with name ${name} was found`,
      );
      const { apiVersion, kind } = PriorityClass;
      const priorityClass = { apiVersion, kind, metadata: { name }, value: 1000 };
      await client.apply(priorityClass, { ...us, resource: PriorityClass });
      await eventually('the class to be known', () =>
        client.create(urgent, { ...us, dryRun: true }).catch(() => undefined),
      );
      await client.delete(PriorityClass, { name });
    },
  },
  {
    name: 'refuses a volume claim above the maximum of a LimitRange, and its growth beyond it',
    async run(context) {
      const { client, namespace } = context;
      await limitRange(context, { type: 'PersistentVolumeClaim', max: { storage: '2Gi' } });
      const words = (size: string) =>
        `persistentvolumeclaims "one" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is ${size}`;
      const error = await failure(client.create(volumeClaim(context, '3Gi'), us));
      expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(error.message).toBe(`create PersistentVolumeClaim ${namespace}/one: ${words('3Gi')}`);
      const { metadata } = await client.create(volumeClaim(context, '1Gi'), us);
      const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
      await client.mergePatch(PersistentVolumeClaim, metadata, { status }, { ...us, subresource: 'status' });
      const spec = { resources: { requests: { storage: '4Gi' } } };
      const growth = await failure(client.mergePatch(PersistentVolumeClaim, metadata, { spec }, us));
      expect(growth).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(growth.message).toBe(`patch PersistentVolumeClaim ${namespace}/one: ${words('4Gi')}`);
    },
  },
  {
    name: 'refuses pods that break the standard that their namespace enforces, and not what makes them',
    async run(context) {
      const { client, namespace, eventually } = context;
      await client.mergePatch(
        Namespace,
        { name: namespace },
        { metadata: { labels: { [enforceLabel]: 'restricted' } } },
        us,
      );
      const error = await eventually('the refusal', () =>
        client.apply(waitingPod(context, { securityContext: {} }), { ...us, dryRun: true }).then(
          () => undefined,
          (refused: unknown) => refused,
        ),
      );
      expect(error).toMatchObject({ code: 403, reason: 'Forbidden' });
      expect(String(error)).toContain('pods "one" is forbidden: violates PodSecurity "restricted:latest": ');
      await client.create(waitingPod(context), us);
      await client.create(deployment(context), us);
    },
  },
];

function resourcesOfFirst(pod: AnyObject): unknown {
  const { spec } = pod as unknown as { spec: { containers: readonly { resources?: object }[] } };
  return spec.containers[0]?.resources;
}
