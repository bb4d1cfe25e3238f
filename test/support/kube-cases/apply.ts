import { expect } from 'vitest';
import { ConfigMap, Event } from '../../../constructs/api/resources.ts';
import { renderEvent } from '../../../reconciler/kube/events.ts';
import { isConflict, isReplaced } from '../../../reconciler/kube/errors.ts';
import {
  type AnyObject,
  appliedBy,
  configMap,
  containersOf,
  deployment,
  failure,
  type KubeCase,
  them,
  us,
} from './kube-case.ts';

/** How the API server merges objects that several managers apply. */
export const applyCases: readonly KubeCase[] = [
  {
    name: 'applies new fields, drops those no longer applied, and writes nothing when nothing changed',
    async run({ client, namespace }) {
      const labels = { l: '1' };
      const created = await client.apply(configMap({ namespace }, { a: '1', b: '1' }, { labels }), us);
      const repeated = await client.apply(configMap({ namespace }, { a: '1', b: '1' }, { labels }), us);
      expect(repeated).toEqual(created);
      const changed = await client.apply(configMap({ namespace }, { a: '2' }), us);
      expect(changed['data']).toEqual({ a: '2' });
      expect(changed.metadata.labels).toBeUndefined();
      expect(changed.metadata.uid).toBe(created.metadata.uid);
    },
  },
  {
    name: 'writes nothing when another process with the same manager name applies the same fields',
    async run({ client, namespace }) {
      const first = await client.apply(configMap({ namespace }, { a: '1' }), { ...us, force: true });
      const second = await client.apply(configMap({ namespace }, { a: '1' }), { ...us, force: true });
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    },
  },
  {
    name: 'stores an Event that is applied, and changes nothing but its series when it is applied again',
    async run({ client, namespace }) {
      const reporter = { reportingController: 'example.com/us', reportingInstance: 'one' };
      const note = { type: 'Warning', reason: 'Failed', action: 'Run', note: 'it has failed' } as const;
      const object = configMap({ namespace }, {}, { uid: 'uid', resourceVersion: '7' });
      const start = { time: Date.parse('2026-11-21T12:00:00Z'), sequence: 1 };
      const event = renderEvent(object, note, start, reporter);
      const first = await client.apply(event, { ...us, force: true });
      expect(first).toMatchObject(event);
      const series = { count: 2, lastTime: start.time + 60_000 };
      await client.apply(renderEvent(object, note, start, reporter, series), { ...us, force: true });
      const counted = { count: 2, lastObservedTime: '2026-11-21T12:01:00.000000Z' };
      expect(await client.get(Event, first.metadata)).toMatchObject({ ...event, series: counted });
    },
  },
  {
    name: 'stores nothing in a dry run',
    async run({ client, namespace }) {
      const answer = await client.apply(configMap({ namespace }, { a: '1' }), { ...us, dryRun: true });
      expect(answer['data']).toEqual({ a: '1' });
      expect(await client.find(ConfigMap, answer.metadata)).toBeUndefined();
    },
  },
  {
    name: 'names the other manager and the field of a conflict, and takes the field over when forced',
    async run(context) {
      const { client } = context;
      const image = (name: string) => deployment(context, { containers: [{ name: 'main', image: name }] });
      await client.apply(image('theirs'), them);
      const error = await failure(client.apply(image('ours'), us));
      expect(isConflict(error)).toBe(true);
      const field = '.spec.template.spec.containers[name="main"].image';
      expect(error.message).toBe(`apply Deployment ${context.namespace}/one: conflict with "them" over ${field}`);
      expect(error.causes).toEqual([{ reason: 'FieldManagerConflict', message: 'conflict with "them"', field }]);
      const forced = await client.apply(image('ours'), { ...us, force: true });
      expect(containersOf(forced)).toMatchObject([{ image: 'ours' }]);
      expect(JSON.stringify(appliedBy(forced, 'them'))).not.toContain('f:image');
    },
  },
  {
    name: 'lets two managers own a field they agree on, and keeps it until the last of them drops it',
    async run({ client, namespace }) {
      await client.apply(configMap({ namespace }, { a: '1' }), us);
      await client.apply(configMap({ namespace }, { a: '1', b: '1' }), them);
      const kept = await client.apply(configMap({ namespace }, {}), us);
      expect(kept['data']).toEqual({ a: '1', b: '1' });
      const dropped = await client.apply(configMap({ namespace }, { b: '1' }), them);
      expect(dropped['data']).toEqual({ b: '1' });
    },
  },
  {
    name: 'removes a field from those who applied it when another manager changes it without applying',
    async run({ client, namespace }) {
      const { metadata } = await client.apply(configMap({ namespace }, { a: '1', b: '1' }), us);
      const edited = await client.mergePatch(ConfigMap, metadata, { data: { a: '2' } }, { fieldManager: 'edit' });
      expect(appliedBy(edited, 'us')).toEqual({ 'f:data': { 'f:b': {} } });
      const error = await failure(client.apply(configMap({ namespace }, { a: '1', b: '1' }), us));
      expect(error.message).toContain('conflict with "edit" over .data.a');
      const kept = await client.apply(configMap({ namespace }, { b: '1' }), us);
      expect(kept['data']).toEqual({ a: '2', b: '1' });
    },
  },
  {
    name: 'drops the ownership of a field that another manager has removed',
    async run({ client, namespace }) {
      const { metadata } = await client.apply(configMap({ namespace }, { a: '1', b: '1' }), us);
      const edited = await client.mergePatch(ConfigMap, metadata, { data: { a: null } }, { fieldManager: 'edit' });
      expect(appliedBy(edited, 'us')).toEqual({ 'f:data': { 'f:b': {} } });
      const repeated = await client.apply(configMap({ namespace }, { a: '1', b: '1' }), us);
      expect(repeated['data']).toEqual({ a: '1', b: '1' });
    },
  },
  {
    name: 'sets fields of an object whose other fields others own, and removes only those again',
    async run({ client, namespace }) {
      await client.apply(configMap({ namespace }, { a: '1' }, { annotations: { theirs: '1' } }), them);
      const { data: _, ...identity } = configMap({ namespace }, {});
      const noted = { ...identity, metadata: { ...identity.metadata, annotations: { ours: '1' } } };
      const both = await client.apply<AnyObject>(noted, us);
      expect([both.metadata.annotations, both['data']]).toEqual([{ ours: '1', theirs: '1' }, { a: '1' }]);
      const left = await client.apply<AnyObject>(identity, us);
      expect([left.metadata.annotations, left['data']]).toEqual([{ theirs: '1' }, { a: '1' }]);
      expect(appliedBy(left, 'us')).toBeUndefined();
    },
  },
  {
    name: 'does not create an object if the apply names a uid, and does not change another object of the same name',
    async run({ client, namespace }) {
      const { metadata } = await client.apply(configMap({ namespace }, { a: '1' }), them);
      await client.delete(ConfigMap, metadata);
      const noted = configMap({ namespace }, { noted: 'yes' }, { uid: metadata.uid });
      expect(await failure(client.apply(noted, us))).toMatchObject({ code: 409, reason: 'Conflict' });
      expect(await client.find(ConfigMap, metadata)).toBeUndefined();
      await client.apply(configMap({ namespace }, { a: '1' }), them);
      const refused = await failure(client.apply(noted, us));
      expect([refused.code, refused.reason]).toEqual([422, 'Invalid']);
      expect([isReplaced(refused), isConflict(refused)]).toEqual([true, false]);
      expect(refused.message).toContain('metadata.uid: Invalid value');
      expect(await client.get<AnyObject>(ConfigMap, metadata)).not.toHaveProperty('data.noted');
    },
  },
  {
    name: 'owns no empty map, so that others can fill it without a conflict, and a repeated apply writes nothing',
    async run(context) {
      const { client } = context;
      const empty = { ...configMap(context, {}, { labels: {}, annotations: {} }), data: {} };
      await client.apply(empty, us);
      const filled = await client.apply(configMap(context, { a: '1' }, { annotations: { theirs: '1' } }), them);
      const { metadata } = await client.mergePatch(
        ConfigMap,
        filled.metadata,
        { data: { b: '1' } },
        { fieldManager: 'edit' },
      );
      const repeated = await client.apply<AnyObject>(empty, us);
      expect(repeated.metadata.resourceVersion).toBe(metadata.resourceVersion);
      expect(repeated['data']).toEqual({ a: '1', b: '1' });
    },
  },
  {
    name: 'refuses an apply for an outdated version',
    async run({ client, namespace }) {
      const { metadata } = await client.apply(configMap({ namespace }, { a: '1' }), them);
      await client.apply(configMap({ namespace }, { a: '2' }), them);
      const { uid, resourceVersion } = metadata;
      const stale = client.apply(configMap({ namespace }, { b: '1' }, { uid, resourceVersion }), us);
      expect(await failure(stale)).toMatchObject({ code: 409, reason: 'Conflict' });
    },
  },
];
