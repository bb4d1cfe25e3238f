import { describe, expect, it } from 'vitest';
import { Service } from '../../../constructs/api/resources.ts';
import { defaultPlatformLists } from '../../../constructs/cluster/platform-lists.ts';
import type { MemoryCluster } from '../../support/loop/memory-cluster.ts';
import { OperatorProcess } from '../../support/loop/operator-process.ts';
import { completeCluster, expectNoWrites, orderedCluster, smallestSpec } from '../../support/loop/scenario.ts';

const taken = 'external-dns.alpha.kubernetes.io/hostname';
const spec = (annotations: object) => ({ ...smallestSpec, exposure: { loadBalancer: { annotations } } });

const annotationsOf = ({ objects }: MemoryCluster) => objects.get(Service, 's-c1')?.metadata.annotations ?? {};
const conditionOf = ({ conditions }: MemoryCluster, type: string) => {
  const { status, reason, message } = conditions.find((one) => one.type === type) ?? {};
  return `${status} ${reason}: ${message}`;
};

describe('an annotation that the platform does not allow', () => {
  it('is not applied, a condition says so, and the control plane works', async () => {
    const cluster = await completeCluster(spec({ [taken]: 'victim.example.org' }));
    expect(annotationsOf(cluster)[taken]).toBeUndefined();
    expect(conditionOf(cluster, 'SpecSupported')).toMatch(
      new RegExp(`^False Overruled: .*${taken}.*LOAD_BALANCER_ANNOT`),
    );
    expect(conditionOf(cluster, 'SpecSupported')).not.toContain('victim');
    expect(conditionOf(cluster, 'Available')).toMatch(/^True/);
  });

  it('stays at a control plane that has it when the platform begins to refuse it, and gets no other value', async () => {
    const cluster = await orderedCluster(spec({ [taken]: 'a.example.org' }));
    const platformLists = { ...defaultPlatformLists, loadBalancerAnnotations: ['*'] };
    const before = await OperatorProcess.start(cluster, undefined, { platformLists });
    await before.untilSettled();
    await before.stop();
    expect(annotationsOf(cluster)).toMatchObject({ [taken]: 'a.example.org' });

    await cluster.change(spec({ [taken]: 'victim.example.org' }));
    const operator = await OperatorProcess.start(cluster);
    await operator.untilSettled();
    await expectNoWrites(cluster, operator);
    await operator.stop();
    expect(annotationsOf(cluster)).toMatchObject({ [taken]: 'a.example.org' });
    expect(conditionOf(cluster, 'SpecSupported')).toMatch(/^False Overruled/);
    expect(conditionOf(cluster, 'Available')).toMatch(/^True/);
  });
});
