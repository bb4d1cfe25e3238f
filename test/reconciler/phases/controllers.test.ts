import { expect, it } from 'vitest';
import { Deployment, Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { controllerManager, scheduler } from '../../../reconciler/phases/controllers.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { scopeOf } from '../../support/scope.ts';

const facts = { endpoint: { host: '192.0.2.10', port: 6443 } };

/** @param server the state of an API server's process @param available how many of them answer */
function withServer(server: 'running' | 'waiting', available: number): MemoryObjects {
  const management = new MemoryObjects();
  const labels = selectorLabels('c1', 'api-server');
  management.put({
    apiVersion: Pod.apiVersion,
    kind: Pod.kind,
    metadata: { name: 'c1-api-server-x', labels },
    status: { containerStatuses: [{ name: 'kube-apiserver', state: { [server]: {} } }] },
  });
  management.put({
    apiVersion: Deployment.apiVersion,
    kind: Deployment.kind,
    metadata: { name: 'c1-api-server', labels },
    spec: { replicas: 2 },
    status: { availableReplicas: available },
  });
  return management;
}

it.each<[what: string, server: 'running' | 'waiting', available: number, wasThere: boolean, starts: boolean]>([
  ['has not started, for the first time', 'waiting', 0, false, false],
  ['starts, for the first time', 'running', 0, false, true],
  ['starts again', 'running', 0, true, false],
  ['answers', 'running', 1, true, true],
])('controller manager and scheduler beside an API server that %s', async (_, server, available, wasThere, starts) => {
  for (const [phase, name] of [
    [controllerManager, 'c1-controller-manager'],
    [scheduler, 'c1-scheduler'],
  ] as const) {
    const management = withServer(server, available);
    const outcome = await phase.run({ ...scopeOf(management, { facts }), takesRefusals: wasThere });
    expect(management.writes.includes(`apply Deployment ${name}`)).toBe(starts);
    expect(outcome).toMatchObject({ kind: 'wait', reason: starts ? 'WaitingForPods' : 'WaitingForOtherPhases' });
  }
});
