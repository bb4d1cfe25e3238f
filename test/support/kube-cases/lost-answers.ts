import { expect } from 'vitest';
import { ConfigMap } from '../../../constructs/api/resources.ts';
import { type AnyObject, configMap, failure, type KubeCase, us } from './kube-case.ts';

const lost = { code: 0, reason: 'Unreachable' };

/** What is left when a connection breaks between a write and its answer. */
export const lostAnswerCases: readonly KubeCase[] = [
  {
    name: 'has stored what was created, applied or patched although its answer is lost',
    async run(context) {
      const { client, losing } = context;
      const { metadata } = configMap(context, {});
      expect(await failure(losing.create(configMap(context, { a: '1' }), us))).toMatchObject(lost);
      expect((await client.get<AnyObject>(ConfigMap, metadata))['data']).toEqual({ a: '1' });
      expect(await failure(losing.apply(configMap(context, { b: '1' }), us))).toMatchObject(lost);
      expect((await client.get<AnyObject>(ConfigMap, metadata))['data']).toEqual({ a: '1', b: '1' });
      const { resourceVersion } = (await client.get(ConfigMap, metadata)).metadata;
      const patch = losing.mergePatch(ConfigMap, metadata, { data: { a: null } }, { ...us, resourceVersion });
      expect(await failure(patch)).toMatchObject(lost);
      expect((await client.get<AnyObject>(ConfigMap, metadata))['data']).toEqual({ b: '1' });
    },
  },
  {
    name: 'has deleted an object although the answer is lost',
    async run(context) {
      const { client, losing } = context;
      const { metadata } = await client.create(configMap(context, {}), us);
      await losing.delete(ConfigMap, metadata).catch((error: unknown) => expect(error).toMatchObject(lost));
      expect(await client.find(ConfigMap, metadata)).toBeUndefined();
    },
  },
];
