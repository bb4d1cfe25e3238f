import { expect, it } from 'vitest';
import { Deployment, Pod } from '../../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../../constructs/cluster/labels.ts';
import { binariesAnnotation, versionAnnotation } from '../../../../constructs/pod/component.ts';
import { awaitedServer, clusterOfFollowers } from '../../../../reconciler/desired-state/upgrade/followers.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { clusterName, hostedCluster } from '../../../support/scope.ts';

type Step = readonly [version: string, binaries?: string];

interface Observed {
  /** Versions of the API servers' pods. */
  readonly servers: readonly Step[];
  readonly isAvailable?: boolean;
  /** Version of the controller manager; missing if it does not exist. */
  readonly controllers?: Step;
}

function annotationsOf([version, binaries]: Step): Record<string, string> {
  return { [versionAnnotation]: version, ...(binaries === undefined ? {} : { [binariesAnnotation]: binaries }) };
}

function objectsWith({ servers, isAvailable = true, controllers }: Observed): MemoryObjects {
  const management = new MemoryObjects();
  const deployment = (component: 'api-server' | 'controller-manager', available: number, step?: Step) => {
    const metadata = { name: `c1-${component}`, labels: selectorLabels(clusterName, component) };
    const { apiVersion, kind } = Deployment;
    const template = { metadata: { annotations: step ? annotationsOf(step) : {} } };
    const status = { replicas: 2, updatedReplicas: 2, availableReplicas: available };
    management.put({ apiVersion, kind, metadata, spec: { replicas: 2, template }, status });
  };
  deployment('api-server', isAvailable ? 2 : 1);
  if (controllers) deployment('controller-manager', 2, controllers);
  for (const [index, step] of servers.entries()) {
    const labels = selectorLabels(clusterName, 'api-server');
    const metadata = { name: `c1-api-server-${index}`, labels, annotations: annotationsOf(step) };
    management.put({ apiVersion: Pod.apiVersion, kind: Pod.kind, metadata });
  }
  return management;
}

it.each<[what: string, wanted: Step, observed: Observed, follows: Step]>([
  ['all API servers have the version', ['v1.37.1'], { servers: [['v1.37.1'], ['v1.37.1']] }, ['v1.37.1']],
  [
    'one does not come back, of the version that everything has',
    ['v1.36.3'],
    { servers: [['v1.36.3'], ['v1.36.3']], isAvailable: false, controllers: ['v1.36.3'] },
    ['v1.36.3'],
  ],
  [
    'an older one still answers',
    ['v1.37.1'],
    { servers: [['v1.36.3'], ['v1.37.1']], controllers: ['v1.36.3'] },
    ['v1.36.3'],
  ],
  [
    'an older one still answers, and the controllers are gone',
    ['v1.37.1'],
    { servers: [['v1.36.3'], ['v1.37.1']] },
    ['v1.36.3'],
  ],
  [
    'the last new one is not available yet',
    ['v1.37.1'],
    { servers: [['v1.37.1'], ['v1.37.1']], isAvailable: false, controllers: ['v1.36.3'] },
    ['v1.36.3'],
  ],
  [
    'an older one terminates',
    ['v1.36.4'],
    { servers: [['v1.36.4'], ['v1.36.4'], ['v1.36.3']], controllers: ['v1.36.3'] },
    ['v1.36.3'],
  ],
  [
    'one does not emulate yet',
    ['v1.36.3', 'v1.37.1'],
    { servers: [['v1.36.3'], ['v1.36.3', 'v1.37.1']], controllers: ['v1.36.3'] },
    ['v1.36.3'],
  ],
  [
    'one still emulates',
    ['v1.37.1'],
    { servers: [['v1.36.3', 'v1.37.1'], ['v1.37.1']], controllers: ['v1.36.3', 'v1.37.1'] },
    ['v1.36.3', 'v1.37.1'],
  ],
  [
    'a newer one still answers after a way back',
    ['v1.36.3'],
    { servers: [['v1.36.4'], ['v1.36.3']], controllers: ['v1.36.4'] },
    ['v1.36.3'],
  ],
])(
  'what must not be newer than an API server has the right version while %s',
  (_, wanted, observed, [version, binaries]) => {
    const cluster = {
      ...hostedCluster({ version: wanted[0] }),
      ...(wanted[1] === undefined ? {} : { binaries: wanted[1] }),
    };
    const recorded = { newest: undefined, served: undefined };
    const held = clusterOfFollowers({ cluster, recorded, reader: objectsWith(observed) });
    expect([held.spec.version, held.binaries]).toEqual([version, binaries]);
  },
);

it.each([
  [2, 1, undefined],
  [2, 0, 'waiting for APIServerDeploymentsReady'],
  [0, 1, 'waiting for APIServerDeploymentsReady'],
])('with %i API servers wanted and %i available, what needs one waits: %s', (replicas, availableReplicas, message) => {
  const reader = new MemoryObjects();
  const { apiVersion, kind } = Deployment;
  const metadata = { name: 'c1-api-server', labels: selectorLabels(clusterName, 'api-server') };
  reader.put({ apiVersion, kind, metadata, spec: { replicas }, status: { availableReplicas } });
  expect(awaitedServer({ cluster: hostedCluster(), reader })?.message).toBe(message);
});
