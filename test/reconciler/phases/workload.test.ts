import { expect, it } from 'vitest';
import type { HostedClient } from '../../../reconciler/scope.ts';
import { KubeError } from '../../../reconciler/kube/errors.ts';
import type { Outcome } from '../../../reconciler/outcome.ts';
import { workload } from '../../../reconciler/phases/workload.ts';
import { MemoryWorld } from '../../support/memory-world.ts';
import { scopeOf } from '../../support/scope.ts';

const unreachable = new KubeError('GET /readyz: connection refused', { code: 0, reason: 'Unreachable' });
const forbidden = new KubeError('apply ClusterRole x: forbidden', { code: 403, reason: 'Forbidden' });
const fails = (error: Error) => async () => {
  throw error;
};
const says = (text: string) => expect.stringContaining(text) as string;

function run(hosted: Partial<HostedClient>, isInitialized = false): Promise<Outcome> {
  return workload.run(
    scopeOf(new MemoryWorld(), {
      hosted,
      facts: { endpoint: { host: '192.0.2.10', port: 6443 } },
      ...(isInitialized ? { status: { initialization: { controlPlaneInitialized: true } } } : {}),
    }),
  );
}

it.each<[string, Partial<HostedClient>, boolean, object]>([
  ['everything answers', {}, false, { kind: 'done' }],
  [
    'the API server is away',
    { applyAsAdmin: fails(unreachable) },
    false,
    { reason: 'WaitingForAPIServer', afterMs: 1000 },
  ],
  [
    'the endpoint leads nowhere',
    { readyThroughEndpoint: fails(unreachable) },
    false,
    { reason: 'EndpointUnreachable', message: says('192.0.2.10:6443: GET /readyz'), afterMs: 1000 },
  ],
  [
    'the endpoint leads nowhere after workers could join',
    { readyThroughEndpoint: fails(unreachable) },
    true,
    { kind: 'done' },
  ],
  [
    'controllers do not work yet',
    { controllersWork: async () => false },
    false,
    { reason: 'WaitingForControllers', afterMs: 200 },
  ],
])('judges a hosted cluster in which %s', async (_, hosted, isInitialized, expected) => {
  expect(await run(hosted, isInitialized)).toMatchObject(expected);
});

it.each<[string, Partial<HostedClient>]>([
  ['objects', { applyAsAdmin: fails(forbidden) }],
  ['a question', { controllersWork: fails(forbidden) }],
])('throws when the hosted cluster refuses %s: that is never a matter of waiting', async (_, hosted) => {
  await expect(run(hosted)).rejects.toBe(forbidden);
});

it('grants rights before anything is asked with them, and asks for controllers last', async () => {
  const calls: string[] = [];
  const noting = (name: string) => async () => {
    calls.push(name);
    return true;
  };
  await run({
    applyAsAdmin: async (objects) => void calls.push(`apply ${objects.length > 0}`),
    readyThroughEndpoint: async () => void calls.push('endpoint'),
    controllersWork: noting('controllers'),
  });
  expect(calls).toEqual(['apply true', 'endpoint', 'controllers']);
});
