import { describe, expect, it } from 'vitest';
import { certificateLifetimes } from '../../../constructs/api/certificates-spec.ts';

const hours = (count: number) => count * 3600;

describe('certificateLifetimes', () => {
  it.each([
    { name: 'ten years and one year when nothing is set', given: {}, root: 87_600, ca: 87_600, leaf: 8760 },
    {
      name: 'the other CAs at most the lifetime of the root CA',
      given: { rootCaCertificateDuration: '43800h' },
      root: 43_800,
      ca: 43_800,
      leaf: 8760,
    },
    {
      name: 'the other CAs at most ten years, even below a longer root CA',
      given: { rootCaCertificateDuration: '175200h' },
      root: 175_200,
      ca: 87_600,
      leaf: 8760,
    },
    {
      name: 'leaf certificates at most half of the shortest CA lifetime',
      given: { rootCaCertificateDuration: '48h', caCertificateDuration: '24h' },
      root: 48,
      ca: 24,
      leaf: 12,
    },
    {
      name: 'leaf certificates the specified lifetime',
      given: { leafCertificateDuration: '720h' },
      root: 87_600,
      ca: 87_600,
      leaf: 720,
    },
  ])('gives $name', ({ given, root, ca, leaf }) => {
    expect(certificateLifetimes(given)).toEqual({
      rootCASeconds: hours(root),
      caSeconds: hours(ca),
      leafSeconds: hours(leaf),
    });
  });
});
