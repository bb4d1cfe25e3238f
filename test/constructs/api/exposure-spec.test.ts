import { describe, expect, it } from 'vitest';
import { exposureOf } from '../../../constructs/api/exposure-spec.ts';

const gateway = { name: 'capi', namespace: 'capi-system' };
const nodePort = { address: '192.0.2.10', port: 30443, konnectivityPort: 30132 };

describe('exposureOf', () => {
  it('treats the gateway shorthand like the gateway under exposure', () => {
    expect(exposureOf({ gateway })).toEqual({ kind: 'gateway', gateway });
    expect(exposureOf({ exposure: { gateway } })).toEqual(exposureOf({ gateway }));
  });

  it('returns the settings of the exposure strategy that is set', () => {
    expect(exposureOf({ exposure: { nodePort } })).toEqual({ kind: 'nodePort', nodePort });
    expect(exposureOf({ exposure: { loadBalancer: { port: 443 } } })).toEqual({
      kind: 'loadBalancer',
      loadBalancer: { port: 443 },
    });
  });

  it.each([
    ['none', {}, 0],
    ['two', { gateway, exposure: { nodePort } }, 2],
  ])('refuses a spec that was not validated and has %s', (_count, spec, count) => {
    expect(() => exposureOf(spec)).toThrow(`exactly one exposure strategy is needed, ${count} are set`);
  });
});
