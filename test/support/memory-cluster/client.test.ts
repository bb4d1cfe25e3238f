import { describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { kubeCases } from '../kube-cases/all-cases.ts';
import { MemoryApiServer } from './api-server.ts';
import { MemoryClient } from './client.ts';

describe('an API server in memory', () => {
  it.each(kubeCases)('$name', async ({ run }) => {
    const client = new MemoryClient(new MemoryApiServer(() => Date.parse('2026-11-21T12:00:00Z')));
    const us = { fieldManager: 'set-up' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, us);
    await client.create(hostedControlPlaneCRD, us);
    await expect(run({ client, namespace: 'team' })).resolves.toBeUndefined();
  });
});
