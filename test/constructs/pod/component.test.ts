import { describe, expect, it } from 'vitest';
import { helperResources } from '../../../constructs/pod/component.ts';
import { Rendered } from '../../support/rendered-cluster.ts';

const apiServer = (settings: object) =>
  new Rendered({ spec: { deployment: { apiServer: settings } } }).workload('c1-api-server').containers[0];

describe('a container', () => {
  it('has requests for the scheduler, and no limit that could kill it', () => {
    expect(apiServer({})?.resources).toEqual({ requests: { cpu: '100m', memory: '384Mi' } });
  });

  it("has the user's resources unchanged, numbers and text alike", () => {
    const resources = { requests: { cpu: 2, memory: '8Gi' }, limits: { memory: '16Gi' } };
    expect(apiServer({ resources })?.resources).toEqual({
      requests: { cpu: '2', memory: '8Gi' },
      limits: { memory: '16Gi' },
    });
  });

  it('is pulled once by default', () => {
    expect(apiServer({})?.imagePullPolicy).toBe('IfNotPresent');
    expect(apiServer({ imagePullPolicy: 'Always' })?.imagePullPolicy).toBe('Always');
  });
});

describe('a container that helps a component', () => {
  const requests = { cpu: '50m', memory: '128Mi' };

  it('has its own requests, and no limits if the component has none', () => {
    expect(helperResources(requests, undefined)).toEqual({ requests });
    expect(helperResources(requests, { requests: { cpu: '2' } })).toEqual({ requests });
  });

  it('may use what the component may, and requests no more than that', () => {
    const limits = { cpu: '20m', memory: '1Gi', 'hugepages-2Mi': '64Mi' };
    expect(helperResources(requests, { limits })).toEqual({
      requests: { cpu: '20m', memory: '128Mi' },
      limits: { cpu: '20m', memory: '1Gi' },
    });
  });
});

describe('pods', () => {
  it.each(['c1-api-server', 'c1-controller-manager', 'c1-scheduler', 'c1-etcd'])(
    'of %s must spread over nodes and preferably spread over zones',
    (workload) => {
      const { pod } = new Rendered().workload(workload);
      const spread = pod.topologySpreadConstraints?.map(({ topologyKey, whenUnsatisfiable }) => [
        topologyKey,
        whenUnsatisfiable,
      ]);
      expect(spread).toEqual([
        ['kubernetes.io/hostname', 'DoNotSchedule'],
        ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
      ]);
    },
  );

  it('of a Deployment ignore those of its previous revision, or a surge would not fit', () => {
    const keys = (workload: string) =>
      new Rendered().workload(workload).pod.topologySpreadConstraints?.map(({ matchLabelKeys }) => matchLabelKeys);
    expect(keys('c1-api-server')).toEqual([['pod-template-hash'], ['pod-template-hash']]);
    expect(keys('c1-etcd')).toEqual([undefined, undefined]);
  });

  it.each([
    ['c1-api-server', 'etcd'],
    ['c1-controller-manager', 'api-server'],
    ['c1-scheduler', 'api-server'],
  ])('of %s prefer a node with a pod of %s, if they can spread', (workload, component) => {
    const { pod } = new Rendered().workload(workload);
    const { requiredDuringSchedulingIgnoredDuringExecution: required, ...preferred } = pod.affinity?.podAffinity ?? {};
    expect(required).toBeUndefined();
    expect(preferred.preferredDuringSchedulingIgnoredDuringExecution).toMatchObject([
      {
        weight: 10,
        podAffinityTerm: {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: {
            matchLabels: { 'cluster.x-k8s.io/cluster-name': 'c1', 'app.kubernetes.io/component': component },
          },
        },
      },
    ]);
  });

  it('of etcd prefer no node', () => {
    expect(new Rendered().workload('c1-etcd').pod.affinity).toBeUndefined();
  });

  it('allow only their own group to read keys', () => {
    const { pod } = new Rendered().workload('c1-api-server');
    const modes = (pod.volumes ?? []).flatMap(({ projected }) => projected?.defaultMode ?? []);
    expect(new Set(modes)).toEqual(new Set([0o440]));
    expect(pod.securityContext?.fsGroup).toBe(pod.securityContext?.runAsGroup);
  });
});
