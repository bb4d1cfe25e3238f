import { expect, it } from 'vitest';
import { renderedFingerprint } from '../../../reconciler/kube/apply-decision.ts';
import { rendering, Renderings } from '../../../reconciler/kube/rendering.ts';

const configMap = (name: string, data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team', labels: { tier: 'any' } },
  data,
});
const policy = (name: string) => ({ ...configMap(name, {}), apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' });

function counted() {
  const renderings = new Renderings();
  let renders = 0;
  const entries = (owner: string, part: string, from: readonly unknown[]) =>
    renderings.entries(
      owner,
      rendering(part, from, () => {
        renders += 1;
        return [configMap('one', { from: JSON.stringify(from) }), { ...policy('two'), spec: { secret: 'content' } }];
      }),
    );
  return { renderings, entries, renders: () => renders };
}

it('renders again only what has another input, and forgets', () => {
  const { renderings, entries, renders } = counted();
  const first = entries('team/c1', 'etcd', [{ replicas: 1 }, 'a']);
  expect(entries('team/c1', 'etcd', [{ replicas: 1 }, 'a']).map(({ fingerprint }) => fingerprint)).toEqual(
    first.map(({ fingerprint }) => fingerprint),
  );
  expect(renders()).toBe(1);
  // Another input, which gives another content.
  const [changed] = entries('team/c1', 'etcd', [{ replicas: 2 }, 'a']);
  expect(changed?.fingerprint).not.toBe(first[0]?.fingerprint);
  expect(renders()).toBe(2);
  // Another part and another owner, from the same.
  entries('team/c1', 'scheduler', [{ replicas: 2 }, 'a']);
  entries('team/c2', 'etcd', [{ replicas: 2 }, 'a']);
  expect(renders()).toBe(4);
  entries('team/c1', 'etcd', [{ replicas: 2 }, 'a']);
  expect(renders()).toBe(4);
  renderings.forget('team/c1');
  entries('team/c1', 'etcd', [{ replicas: 2 }, 'a']);
  entries('team/c2', 'etcd', [{ replicas: 2 }, 'a']);
  expect(renders()).toBe(5);
});

it('distinguishes inputs in their order, and a value from none', () => {
  const { entries, renders } = counted();
  const inputs = [['a', 'b'], ['b', 'a'], ['a'], ['a', undefined], [{ a: 1 }], [{ a: 1, b: undefined }], [['a']]];
  for (const from of inputs) entries('team/c1', 'etcd', from);
  // JSON has no undefined fields: that one renders the same as the one before.
  expect(renders()).toBe(inputs.length - 1);
});

it('keeps names and fingerprints, and no content', () => {
  const { entries } = counted();
  entries('team/c1', 'etcd', ['x']);
  const [one, two] = entries('team/c1', 'etcd', ['x']);
  expect(one?.name).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one', namespace: 'team' } });
  // Whether it has a spec, and nothing of it.
  expect(two?.name).toMatchObject({ kind: 'PodDisruptionBudget', spec: {} });
  expect(two?.name.spec).toEqual({});
  expect(one?.object()).toEqual(configMap('one', { from: '["x"]' }));
  expect(one?.fingerprint).toBe(renderedFingerprint(one?.object() as object as ReturnType<typeof configMap>));
});

it('renders nothing to know objects that are there', () => {
  const [entry] = new Renderings().entries('team/c1', [configMap('one', { a: '1' })]);
  expect(entry?.object()).toEqual(configMap('one', { a: '1' }));
});
