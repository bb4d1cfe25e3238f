import { expect, it } from 'vitest';
import { done, type Outcome } from '../../../reconciler/engine/outcome.ts';
import { phases } from '../../../reconciler/reconcile/phases.ts';
import { phase } from '../../../reconciler/phases/scope.ts';

const host = { host: '192.0.2.1', port: 6443 };

const provider = phase({
  condition: 'SyncControlPlaneEndpointReady',
  needs: [],
  establishes: ['endpoint'],
  run: async (): Promise<Outcome<'endpoint'>> => done({ endpoint: host }),
});

it('gives a phase the facts of its needs, and those of their needs', () => {
  const user = phase({
    condition: 'CertificatesReady',
    needs: [provider],
    run: async ({ facts }): Promise<Outcome> => done({ advertiseAddress: facts.endpoint.host }),
  });
  const farther = phase({
    condition: 'AdminKubeconfigReady',
    needs: [user],
    run: async ({ facts }): Promise<Outcome> => done({ advertiseAddress: facts.endpoint.host }),
  });
  expect(farther.establishes).toEqual(['endpoint']);
});

it('does not compile without the need whose fact it reads, nor without the fact it promises', () => {
  phase({
    condition: 'CertificatesReady',
    needs: [],
    // @ts-expect-error the endpoint may be missing
    run: async ({ facts }): Promise<Outcome> => done({ advertiseAddress: facts.endpoint.host }),
  });
  phase({
    condition: 'SyncControlPlaneEndpointReady',
    needs: [],
    establishes: ['endpoint'],
    // @ts-expect-error the endpoint is promised
    run: async (): Promise<Outcome<'endpoint'>> => done({}),
  });
  expect(phases.length).toBeGreaterThan(0);
});
