import { describe, expect, it } from 'vitest';
import { hostedControlPlaneCRD } from '../../../constructs/api/crd.ts';
import { kubeCases } from '../kube-cases/all-cases.ts';
import { controllerCases } from '../kube-cases/controllers.ts';
import { settle } from '../management-controllers.ts';
import { MemoryApiServer } from './api-server.ts';
import { MemoryClient } from './client.ts';
import { NamespaceObjects } from './controlled-objects.ts';
import { runControllers } from './controllers/controllers.ts';
import { lostAnswer } from './failures.ts';
import { administrator } from './users.ts';

const namespace = 'team';

describe('an API server in memory', () => {
  it.each([...kubeCases, ...controllerCases])('$name', async ({ run }) => {
    const server = new MemoryApiServer(() => Date.parse('2026-11-21T12:00:00Z'));
    const client = new MemoryClient(server, administrator('set-up'));
    const as = async (name: string, groups: readonly string[] = []) =>
      new MemoryClient(server, { name, groups: [...groups, 'system:authenticated'] });
    const losing = new MemoryClient(server, administrator('set-up'), {
      after: (action) => {
        throw lostAnswer(action);
      },
    });
    const us = { fieldManager: 'set-up' };
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, us);
    await client.create(hostedControlPlaneCRD, us);
    const eventually = async <T>(what: string, condition: () => Promise<T | undefined | false>): Promise<T> => {
      // Both act until nothing is left to do.
      runControllers(server);
      settle(new NamespaceObjects(server, namespace));
      runControllers(server);
      const result = await condition();
      if (result === undefined || result === false) throw new Error(`controllers have not led to ${what}`);
      return result;
    };
    await expect(run({ client, as, losing, namespace, eventually })).resolves.toBeUndefined();
  });
});
