import { describe, expect, it } from 'vitest';
import { restartsWithAnnotation } from '../../../constructs/pod/component.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import type { WorkloadPart } from '../../../constructs/workload/chart.ts';
import { clusterOf } from '../../support/rendered-cluster.ts';
import { RenderedPart } from '../../support/rendered-hosted-cluster.ts';

const secret = namesOf(clusterOf().name).secrets.clusterCA;

/** The annotation for which the pods of an add-on are replaced. */
function restartsWith(part: WorkloadPart, version: string, signer: string): string | undefined {
  const { workload } = new RenderedPart(part, { spec: { version } }, { signers: { [secret]: signer } });
  return workload.template.metadata?.annotations?.[restartsWithAnnotation];
}

const reloads: readonly [part: WorkloadPart, version: string, isReplaced: boolean][] = [
  ['kube-proxy', 'v1.35.3', true],
  ['kube-proxy', 'v1.36.3', false],
  ['coredns', 'v1.36.3', true],
  ['konnectivity-agent', 'v1.35.3', true],
  ['konnectivity-agent', 'v1.36.3', true],
];

describe.each(reloads)('pods of %s of %s', (part, version, isReplaced) => {
  it(`${isReplaced ? 'are replaced' : 'stay, for they read again,'} when another CA signs`, () => {
    const first = restartsWith(part, version, 'aaaaaaaaaaaa-of-the-first');
    const second = restartsWith(part, version, 'bbbbbbbbbbbb-of-the-second');
    expect(first !== second).toBe(isReplaced);
    expect(second?.includes('cluster-ca=bbbbbbbbbbbb') ?? false).toBe(isReplaced);
  });
});

describe.each(['coredns', 'konnectivity-agent'] as const)('pods of %s', (part) => {
  const budgets = (nodes: number | undefined) =>
    new RenderedPart(part, {}, { nodes }).objects.filter(({ kind }) => kind === 'PodDisruptionBudget');

  it.each([undefined, 0, 1])('may all be evicted with %s nodes, so that the last node can be drained', (nodes) => {
    expect(budgets(nodes)).toEqual([]);
  });

  it('are evicted one after the other where there are several, but at once if they do not work', () => {
    const { selector } = new RenderedPart(part).workload.object['spec'] as { selector: object };
    expect(budgets(2)).toEqual([
      expect.objectContaining({ spec: { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector } }),
    ]);
  });
});
