import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { releaseOf } from '../../../../constructs/cluster/release-revisions.ts';
import type { Outcome } from '../../../../reconciler/engine/outcome.ts';
import type { EndpointProbe } from '../../../../reconciler/clusters/exposure/endpoint-probes.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { objectsOf, type Rendered } from '../../../../reconciler/kube/rendering.ts';
import { konnectivityAgent } from '../../../../reconciler/phases/workload/add-ons.ts';
import { askForAgent, type HasAgent } from '../../../../reconciler/clusters/pods/has-agent.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { knownFacts } from '../../../support/rendered-cluster.ts';
import { now, scopeOf, withServer } from '../../../support/scope.ts';

interface Circumstances {
  readonly hasAgent: HasAgent;
  /** How many pods of the agents are available. */
  readonly available?: number;
  readonly nodes?: number;
  readonly revision?: number;
  /** For how many seconds it has had none. */
  readonly forSeconds?: number;
  /** Status of the second API server. */
  readonly second?: 'Ready' | 'not ready' | 'going';
}

/** The outcome with two API servers, at the addresses 10.0.0.1 and 10.0.0.2. */
async function run({
  hasAgent,
  available = 1,
  nodes = 2,
  forSeconds = 30,
  revision,
  second = 'Ready',
}: Circumstances): Promise<Outcome> {
  const management = withServer(new MemoryObjects());
  for (const one of [1, 2]) {
    const isSecond = one === 2;
    management.put({
      apiVersion: Pod.apiVersion,
      kind: Pod.kind,
      metadata: {
        name: `c1-api-server-${one}`,
        labels: selectorLabels('c1', 'api-server'),
        ...(isSecond && second === 'going' ? { deletionTimestamp: '2026-11-21T12:00:00Z' } : {}),
      },
      status: {
        podIP: `10.0.0.${one}`,
        conditions: [{ type: 'Ready', status: isSecond && second === 'not ready' ? 'False' : 'True' }],
      },
    });
  }
  const scope = scopeOf(management, {
    facts: { ...knownFacts, nodes },
    hosted: {
      apply: async <T extends KubeObject>(rendered: Rendered) =>
        objectsOf(rendered).map((object) => ({
          ...object,
          status: { availableReplicas: available },
        })) as unknown as T[],
    },
  });
  const agentsProbe: EndpointProbe = {
    probe: (_, attempt) =>
      attempt().then(
        () => ({ kind: 'works' }),
        (error: unknown) => ({
          kind: 'fails',
          error,
          since: new Date(now.getTime() - forSeconds * 1000),
          retryAt: new Date(now.getTime() + 800),
        }),
      ),
  };
  const release = revision === undefined ? {} : { release: releaseOf(36, revision) };
  const cluster = { ...scope.cluster, ...release };
  return konnectivityAgent.run({ ...scope, cluster, followers: cluster, hasAgent, agentsProbe });
}

const onlyFirst: HasAgent = async (address) => address === '10.0.0.1';

describe('an API server without a konnectivity agent', () => {
  it('is named, with what leads all agents to the other one', async () => {
    const { host, port } = knownFacts.konnectivityEndpoint;
    expect(await run({ hasAgent: onlyFirst })).toMatchObject({
      kind: 'degraded',
      reason: 'APIServerWithoutAgent',
      message: `no konnectivity agent is connected to c1-api-server-2, so that logs, exec and webhooks fail there: each agent connects to every API server by new connections to ${host}:${port}, so let what is in front of it lead them to any API server, without affinity to the client's address`,
    });
  });

  it('may get one within half a minute', async () => {
    const retryAt = new Date(now.getTime() + 800);
    expect(await run({ hasAgent: onlyFirst, forSeconds: 29 })).toMatchObject({ kind: 'done', requeueAt: retryAt });
  });

  it.each<[when: string, circumstances: Partial<Circumstances>]>([
    ['it does not say whether it has one', { hasAgent: async () => Promise.reject(new Error('does not answer')) }],
    ['it is not ready', { second: 'not ready' }],
    ['it goes', { second: 'going' }],
    ['there are no nodes', { nodes: 0 }],
    ['the operator may not ask, by an older release revision', { revision: 3 }],
  ])('is nothing to report when %s', async (_, circumstances) => {
    expect(await run({ hasAgent: onlyFirst, ...circumstances })).toMatchObject({ kind: 'done' });
  });

  it('is less than agents that do not run', async () => {
    const stopped = { hasAgent: onlyFirst, available: 0 };
    expect(await run(stopped)).toMatchObject({ kind: 'wait', reason: 'WaitingForPods' });
  });
});

it.each([
  [200, true],
  [500, false],
  [404, undefined],
])('a konnectivity server that answers with status %i has an agent: %s', async (status, expected) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end('x'.repeat(1024 ** 2));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await askForAgent('127.0.0.1', port).catch(() => undefined);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(answer).toBe(expected);
  expect(asked).toEqual(['/readyz']);
});
