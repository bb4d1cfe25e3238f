import { expect, it } from 'vitest';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { RenderedNames } from '../../../reconciler/reconcile/rendered-names.ts';
import { knownFacts } from '../../support/rendered-cluster.ts';
import { hostedCluster } from '../../support/scope.ts';

it('renders again only what has another input, and forgets', () => {
  const names = new RenderedNames();
  let renders = 0;
  const get = (of: string, replicas: number) => {
    const cluster = hostedCluster({ replicas });
    return names.get(of, [cluster, knownFacts], () => {
      renders += 1;
      return renderControlPlane(cluster, knownFacts);
    });
  };
  const budgets = (replicas: number) => get('team/c1', replicas).filter(({ kind }) => kind === 'PodDisruptionBudget');
  const [one, two] = [budgets(1).length, budgets(2).length];
  expect(two).toBeGreaterThan(one);
  expect(renders).toBe(2);
  expect(budgets(2)).toHaveLength(two);
  expect(renders).toBe(2);
  get('team/c2', 2);
  expect(renders).toBe(3);
  names.forget('team/c1');
  expect(budgets(2)).toHaveLength(two);
  expect(renders).toBe(4);
});

it('keeps no content', () => {
  const cluster = hostedCluster();
  const kept = new RenderedNames().get('team/c1', [cluster], () => renderControlPlane(cluster, knownFacts));
  expect(kept.length).toBeGreaterThan(10);
  expect([...new Set(kept.flatMap((object) => Object.keys(object)))]).toEqual([
    'apiVersion',
    'kind',
    'metadata',
    'spec',
  ]);
  expect(kept.flatMap(({ spec }) => Object.keys(spec ?? {}))).toEqual([]);
  expect(
    kept.flatMap(({ metadata }) => Object.keys(metadata)).filter((key) => !['name', 'namespace'].includes(key)),
  ).toEqual([]);
});
