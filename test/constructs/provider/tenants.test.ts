import { expect, it } from 'vitest';
import { renderTenants } from '../../../constructs/provider/tenants.ts';

const rendered = <T>(kind: string): T => renderTenants().find((object) => object.kind === kind) as T;

it('tenants may create only objects that the sample of a quota counts', () => {
  const { rules } = rendered<{ rules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] }>('ClusterRole');
  const { spec } = rendered<{ spec: { hard: Record<string, unknown> } }>('ResourceQuota');
  const created = rules
    .filter(({ verbs }) => verbs.includes('create'))
    .flatMap(({ apiGroups, resources }) => resources.map((resource) => `count/${resource}.${apiGroups.join()}`));
  const counted = created.filter((name) => Object.hasOwn(spec.hard, name));
  expect(counted).toContain('count/hostedcontrolplanes.controlplane.cluster.x-k8s.io');
  // No object: a right that the operator asks for.
  expect(created.filter((name) => !counted.includes(name))).toEqual([
    'count/hostedcontrolplanes/kubeconfig.controlplane.cluster.x-k8s.io',
  ]);
});
