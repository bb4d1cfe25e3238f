import { expect, it } from 'vitest';
import { renderControlPlane } from '../../../../constructs/control-plane/chart.ts';
import { hostedCluster } from '../../../support/scope.ts';

const term = { matchExpressions: [{ key: 'zone', operator: 'Exists' }] };
const other = { matchExpressions: [{ key: 'disk', operator: 'Exists' }] };
const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term, other] } };
const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [] };
const container = (requests: object) => ({ name: 'etcd', image: 'etcd:1', resources: { requests } });

const spec = {
  affinity: { nodeAffinity, podAntiAffinity },
  nodeSelector: { disk: 'fast' },
  containers: [container({ cpu: '1500m', memory: '2Gi', 'example.org/gpu': 1 })],
  volumes: [{ name: 'etcd-data', persistentVolumeClaim: { claimName: 'etcd-data-c1-etcd-0' } }],
};
const runs = { containers: [container({ cpu: '1', memory: '4Gi' })] };

function probe(where: 'here' | 'anywhere', changes: object = {}): Record<string, unknown> {
  const etcdProbe = {
    where,
    member: 'c1-etcd-0',
    node: 'node-1',
    template: 'digest',
    spec: { ...spec, ...changes },
    runs,
  };
  const facts = { certificates: {}, mounts: {}, etcdProbe };
  const [pod, ...others] = renderControlPlane(hostedCluster(), facts, 'etcd-probe');
  expect(others).toEqual([]);
  expect(pod?.metadata).toMatchObject({ name: `c1-etcd-0-probe-${where}`, namespace: 'team' });
  return pod?.['spec'] as Record<string, unknown>;
}

it('a probe asks for a node as the pod that it stands for, reads its volume at most, and never starts anything', () => {
  expect(probe('anywhere')).toEqual({
    affinity: { nodeAffinity },
    nodeSelector: { disk: 'fast' },
    containers: spec.containers,
    volumes: [
      { name: 'etcd-data', persistentVolumeClaim: { claimName: 'etcd-data-c1-etcd-0', readOnly: true } },
      { name: 'never', configMap: { name: 'c1-etcd-0-probe-anywhere-never' } },
    ],
    restartPolicy: 'Never',
    activeDeadlineSeconds: 600,
    terminationGracePeriodSeconds: 1,
  });
});

it('a probe on the node of the member asks for that node in each alternative, and for what is needed in addition', () => {
  const node = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }] };
  const { affinity, containers } = probe('here');
  expect(affinity).toEqual({
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { ...term, ...node },
          { ...other, ...node },
        ],
      },
    },
  });
  expect(containers).toMatchObject([{ resources: { requests: { cpu: '500m', memory: '0', 'example.org/gpu': '1' } } }]);
  expect(probe('here', { affinity: undefined })['affinity']).toEqual({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [node] } },
  });
});
