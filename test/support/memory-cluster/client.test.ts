import { describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { kubeCases } from '../kube-cases/all-cases.ts';
import { MemoryApiServer } from './api-server.ts';
import { MemoryClient } from './client.ts';
import { administrator } from './users.ts';

describe('an API server in memory', () => {
  it.each(kubeCases)('$name', async ({ run }) => {
    const server = new MemoryApiServer(() => Date.parse('2026-11-21T12:00:00Z'));
    const client = new MemoryClient(server, administrator('set-up'));
    const as = async (name: string, groups: readonly string[] = []) =>
      new MemoryClient(server, { name, groups: [...groups, 'system:authenticated'] });
    const us = { fieldManager: 'set-up' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } }, us);
    await client.create(hostedControlPlaneCRD, us);
    await expect(run({ client, as, namespace: 'team' })).resolves.toBeUndefined();
  });
});
