import { describe, expect, it } from 'vitest';
import { renderTenants } from '../../../constructs/provider/tenants.ts';

const rendered = <T>(kind: string): T => renderTenants().find((object) => object.kind === kind) as T;

/** The part after the prefix, of which Kubernetes takes at most 63 characters. */
const namePart = (what: string): string => what.slice(what.indexOf('/') + 1);

describe('the samples for tenants', () => {
  it('have a quota whose names Kubernetes accepts', () => {
    const { spec } = rendered<{ spec: { hard: Record<string, unknown> } }>('ResourceQuota');
    const names = Object.keys(spec.hard);
    expect(names).toContain('count/hostedcontrolplanes.controlplane.cluster.x-k8s.io');
    expect(names.filter((name) => namePart(name).length > 63)).toEqual([]);
  });
});
