import { expect } from 'vitest';
import { ConfigMap, HostedControlPlane, Pod } from '../../../constructs/api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../../reconciler/kube/errors.ts';
import {
  type AnyObject,
  configMap,
  deployment,
  failure,
  type KubeCase,
  type KubeCaseContext,
  us,
} from './kube-case.ts';

function hostedControlPlane({ namespace }: KubeCaseContext, spec: object = {}): AnyObject {
  const { apiVersion, kind } = HostedControlPlane;
  return {
    apiVersion,
    kind,
    metadata: { name: 'one', namespace },
    spec: { version: 'v1.36.3', exposure: { loadBalancer: {} }, ...spec },
  };
}

const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'Fine',
  message: 'fine',
  lastTransitionTime: '2026-11-21T12:00:00Z',
});

function pod({ namespace }: KubeCaseContext, nodeName?: string): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'one', namespace },
    spec: { containers: [{ name: 'main', image: 'main:1' }], ...(nodeName === undefined ? {} : { nodeName }) },
  };
}

/** How objects are created, changed and deleted. */
export const lifecycleCases: readonly KubeCase[] = [
  {
    name: 'creates an object once, with a uid, a version and the time',
    async run({ client, namespace }) {
      const created = await client.create(configMap({ namespace }, { a: '1' }), us);
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(Number(created.metadata.resourceVersion)).toBeGreaterThan(0);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const error = await failure(client.create(configMap({ namespace }, { a: '2' }), us));
      expect([isAlreadyExists(error), isConflict(error)]).toEqual([true, true]);
      expect(await client.get(ConfigMap, created.metadata)).toEqual(created);
    },
  },
  {
    name: 'refuses to create an object with a version',
    async run({ client, namespace }) {
      const error = await failure(client.create(configMap({ namespace }, {}, { resourceVersion: '1' }), us));
      expect(error.message).toContain('resourceVersion should not be set on objects to be created');
      expect(await client.find(ConfigMap, { namespace, name: 'one' })).toBeUndefined();
    },
  },
  {
    name: 'gives an object that replaces a deleted one its own uid',
    async run({ client, namespace }) {
      const first = await client.create(configMap({ namespace }, {}), us);
      await client.delete(ConfigMap, first.metadata);
      const second = await client.create(configMap({ namespace }, {}), us);
      expect(second.metadata.uid).not.toBe(first.metadata.uid);
    },
  },
  {
    name: 'answers NotFound for an object that does not exist, also if its namespace does not exist',
    async run({ client, namespace }) {
      const error = await failure(client.get(ConfigMap, { namespace, name: 'none' }));
      expect(isNotFound(error)).toBe(true);
      expect(error.message).toBe(`get ConfigMap ${namespace}/none: configmaps "none" not found`);
      const lost = await failure(client.apply(configMap({ namespace: 'nowhere' }, {}), us));
      expect(isNotFound(lost)).toBe(true);
      expect(lost.message).toContain('namespaces "nowhere" not found');
      expect(isNotFound(await failure(client.mergePatch(ConfigMap, { namespace, name: 'none' }, {}, us)))).toBe(true);
      expect(await client.find(ConfigMap, { namespace, name: 'none' })).toBeUndefined();
    },
  },
  {
    name: 'answers NotFound for a resource that is not installed',
    async run({ client, namespace }) {
      const absent = { apiVersion: 'absent.example.org/v1', kind: 'Absent', plural: 'absents', namespaced: true };
      expect(isNotFound(await failure(client.list(absent)))).toBe(true);
      expect(isNotFound(await failure(client.get(absent, { namespace, name: 'one' })))).toBe(true);
    },
  },
  {
    name: 'merges a patch, and writes nothing when the patch changes nothing',
    async run({ client, namespace }) {
      const { metadata } = await client.create(configMap({ namespace }, { a: '1', b: '1' }), us);
      const patch = { data: { b: null, c: '1' } };
      const merged = await client.mergePatch<AnyObject>(ConfigMap, metadata, patch, us);
      expect(merged['data']).toEqual({ a: '1', c: '1' });
      const repeated = await client.mergePatch(ConfigMap, metadata, patch, us);
      expect(repeated.metadata.resourceVersion).toBe(merged.metadata.resourceVersion);
    },
  },
  {
    name: 'refuses a patch for an outdated version',
    async run({ client, namespace }) {
      const { metadata } = await client.create(configMap({ namespace }, { a: '1' }), us);
      await client.mergePatch(ConfigMap, metadata, { data: { a: '2' } }, us);
      const { resourceVersion } = metadata;
      const stale = { metadata: { finalizers: ['example.org/mine'] } };
      const error = await failure(client.mergePatch(ConfigMap, metadata, stale, { ...us, resourceVersion }));
      expect([error.code, error.reason, isAlreadyExists(error)]).toEqual([409, 'Conflict', false]);
    },
  },
  {
    name: 'returns only the metadata of a patched object if only that is requested',
    async run({ client, namespace }) {
      const { metadata } = await client.create(configMap({ namespace }, { a: '1' }), us);
      const patch = { metadata: { annotations: { noted: 'yes' } } };
      const answer = await client.mergePatch<AnyObject>(ConfigMap, metadata, patch, { ...us, metadataOnly: true });
      expect(answer.kind).toBe('PartialObjectMetadata');
      expect(answer.metadata.annotations).toEqual({ noted: 'yes' });
      expect(answer).not.toHaveProperty('data');
    },
  },
  {
    name: 'deletes an object, succeeds if it is gone, and keeps another object of the same name',
    async run({ client, namespace }) {
      const { metadata } = await client.create(configMap({ namespace }, {}), us);
      const another = await failure(client.delete(ConfigMap, metadata, { uid: 'another' }));
      expect(another).toMatchObject({ code: 409, reason: 'Conflict' });
      const stale = await failure(client.delete(ConfigMap, metadata, { resourceVersion: '1' }));
      expect(stale).toMatchObject({ code: 409, reason: 'Conflict' });
      await client.delete(ConfigMap, metadata, { uid: metadata.uid, propagationPolicy: 'Background' });
      await client.delete(ConfigMap, metadata, { uid: metadata.uid });
      expect(await client.find(ConfigMap, metadata)).toBeUndefined();
    },
  },
  {
    name: 'keeps a deleted object until its last finalizer is removed, and ignores any other change of the deletion',
    async run({ client, namespace }) {
      const finalizers = ['example.org/a', 'example.org/b'];
      const { metadata } = await client.create(configMap({ namespace }, {}, { finalizers }), us);
      await client.delete(ConfigMap, metadata);
      const dying = await client.get(ConfigMap, metadata);
      expect(dying.metadata.deletionTimestamp).toMatch(/Z$/);
      await client.delete(ConfigMap, metadata);
      const unchanged = await client.get(ConfigMap, metadata);
      expect(unchanged.metadata.resourceVersion).toBe(dying.metadata.resourceVersion);
      const one = { metadata: { finalizers: ['example.org/b'], deletionTimestamp: null } };
      const left = await client.mergePatch(ConfigMap, metadata, one, us);
      expect(left.metadata.deletionTimestamp).toBe(dying.metadata.deletionTimestamp);
      await client.mergePatch(ConfigMap, metadata, { metadata: { finalizers: [] } }, us);
      expect(await client.find(ConfigMap, metadata)).toBeUndefined();
    },
  },
  {
    name: 'lets a later request decide how the dependents of an object go that is already being deleted',
    async run({ client, namespace }) {
      const finalizers = ['example.org/mine'];
      const { metadata } = await client.create(configMap({ namespace }, {}, { finalizers }), us);
      const deleted = async (propagationPolicy?: 'Background' | 'Foreground') => {
        await client.delete(ConfigMap, metadata, { propagationPolicy });
        return (await client.get(ConfigMap, metadata)).metadata.finalizers;
      };
      expect(await deleted()).toEqual(finalizers);
      expect(await deleted('Foreground')).toEqual([...finalizers, 'foregroundDeletion']);
      expect(await deleted()).toEqual([...finalizers, 'foregroundDeletion']);
      expect(await deleted('Background')).toEqual(finalizers);
    },
  },
  {
    name: 'removes a scheduled pod only when its kubelet confirms, and any other pod at once',
    async run(context) {
      const { client } = context;
      const waiting = await client.create(pod(context), us);
      await client.delete(Pod, waiting.metadata);
      expect(await client.find(Pod, waiting.metadata)).toBeUndefined();
      const { metadata } = await client.create(pod(context, 'somewhere'), us);
      await client.delete(Pod, metadata);
      expect(await client.get(Pod, metadata)).toMatchObject({
        metadata: { deletionTimestamp: expect.any(String) as string, deletionGracePeriodSeconds: 30 },
      });
      await client.delete(Pod, metadata, { gracePeriodSeconds: 0 });
      expect(await client.find(Pod, metadata)).toBeUndefined();
    },
  },
  {
    name: 'keeps a scheduled pod for its kubelet when its last finalizer goes, and when it is changed',
    async run(context) {
      const { client } = context;
      const held = pod(context, 'somewhere');
      const finalizers = ['example.org/mine'];
      const { metadata } = await client.create({ ...held, metadata: { ...held.metadata, finalizers } }, us);
      await client.delete(Pod, metadata);
      for (const change of [{ finalizers: null }, { annotations: { a: '1' } }]) {
        await client.mergePatch(Pod, metadata, { metadata: change }, us);
        expect(await client.get(Pod, metadata)).toMatchObject({ metadata: { deletionGracePeriodSeconds: 30 } });
      }
      await client.delete(Pod, metadata, { gracePeriodSeconds: 0 });
      expect(await client.find(Pod, metadata)).toBeUndefined();
    },
  },
  {
    name: 'protects a volume claim with a finalizer until no pod uses it',
    async run({ client, namespace }) {
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
      const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'one', namespace }, spec };
      const created = await client.create(claim, us);
      expect(created.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
    },
  },
  {
    name: 'counts only changes of the spec in the generation',
    async run(context) {
      const { client } = context;
      const first = await client.apply(deployment(context, { spec: { replicas: 1 } }), us);
      expect(first.metadata.generation).toBe(1);
      const labelled = { ...deployment(context, { spec: { replicas: 1 } }) };
      const second = await client.apply({ ...labelled, metadata: { ...labelled.metadata, labels: { a: '1' } } }, us);
      expect(second.metadata.generation).toBe(1);
      const third = await client.apply(deployment(context, { spec: { replicas: 2 } }), us);
      expect(third.metadata.generation).toBe(2);
      const map = await client.apply(configMap(context, {}), us);
      expect(map.metadata.generation).toBeUndefined();
    },
  },
  {
    name: 'writes the status only through its subresource, which changes nothing else',
    async run(context) {
      const { client } = context;
      const object = hostedControlPlane(context);
      const created = await client.apply<AnyObject>({ ...object, status: { replicas: 9 } }, us);
      expect(created['status']).toEqual({ observedGeneration: -1 });
      expect(created.metadata.generation).toBe(1);
      const { spec: _, ...identity } = object;
      const metadata = { ...identity.metadata, labels: { ignored: 'yes' } };
      const reported = await client.apply<AnyObject>(
        { ...identity, metadata, spec: { version: 'v1.35.1' }, status: { replicas: 2 } },
        { ...us, force: true, subresource: 'status' },
      );
      expect(reported['status']).toEqual({ observedGeneration: -1, replicas: 2 });
      expect(reported['spec']).toEqual(created['spec']);
      expect([reported.metadata.generation, reported.metadata.labels]).toEqual([1, undefined]);
      const raised = await client.apply<AnyObject>(hostedControlPlane(context, { replicas: 3 }), us);
      expect([raised.metadata.generation, raised['status']]).toEqual([2, { observedGeneration: -1, replicas: 2 }]);
    },
  },
  {
    name: 'leaves the conditions of other managers alone when one manager applies its own',
    async run(context) {
      const { client } = context;
      const { spec: _, ...identity } = await client.apply(hostedControlPlane(context), us);
      const object = {
        apiVersion: identity.apiVersion,
        kind: identity.kind,
        metadata: { name: 'one', namespace: context.namespace },
      };
      const report = (fieldManager: string, ...types: string[]) =>
        client.apply<AnyObject>(
          { ...object, status: { conditions: types.map(condition) } },
          { fieldManager, force: true, subresource: 'status' },
        );
      await report('them', 'Theirs');
      await report('us', 'Ready', 'EtcdClusterReady');
      const answer = await report('us', 'Ready');
      const { conditions } = answer['status'] as { conditions: { type: string }[] };
      expect(conditions.map(({ type }) => type).sort()).toEqual(['Ready', 'Theirs']);
    },
  },
  {
    name: 'does not create an object by applying its status',
    async run(context) {
      const { spec: _, ...identity } = hostedControlPlane(context);
      const error = await failure(
        context.client.apply({ ...identity, status: { replicas: 1 } }, { ...us, subresource: 'status' }),
      );
      expect(isNotFound(error)).toBe(true);
    },
  },
];
