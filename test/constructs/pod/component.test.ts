import { describe, expect, it } from 'vitest';
import { Rendered } from '../../support/rendered-cluster.ts';

const apiServer = (settings: object) =>
  new Rendered({ spec: { deployment: { apiServer: settings } } }).workload('c1-api-server').containers[0];

describe('a container', () => {
  it('asks for what lets it be scheduled sensibly, and has no limit that could kill it', () => {
    expect(apiServer({})?.resources).toEqual({ requests: { cpu: '100m', memory: '384Mi' } });
  });

  it("gets the user's resources as they are, numbers and text alike", () => {
    const resources = { requests: { cpu: 2, memory: '8Gi' }, limits: { memory: '16Gi' } };
    expect(apiServer({ resources })?.resources).toEqual({
      requests: { cpu: '2', memory: '8Gi' },
      limits: { memory: '16Gi' },
    });
  });

  it('is pulled once, unless the user wants otherwise', () => {
    expect(apiServer({})?.imagePullPolicy).toBe('IfNotPresent');
    expect(apiServer({ imagePullPolicy: 'Always' })?.imagePullPolicy).toBe('Always');
  });
});

describe('pods', () => {
  it.each(['c1-api-server', 'c1-controller-manager', 'c1-scheduler', 'c1-etcd'])(
    'of %s spread over nodes strictly and over zones as far as it goes',
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

  it('of a Deployment leave those of its former revision out of the count, or a surge would not fit', () => {
    const keys = (workload: string) =>
      new Rendered().workload(workload).pod.topologySpreadConstraints?.map(({ matchLabelKeys }) => matchLabelKeys);
    expect(keys('c1-api-server')).toEqual([['pod-template-hash'], ['pod-template-hash']]);
    expect(keys('c1-etcd')).toEqual([undefined, undefined]);
  });

  it('show keys to their own group alone', () => {
    const { pod } = new Rendered().workload('c1-api-server');
    const modes = (pod.volumes ?? []).flatMap(({ projected }) => projected?.defaultMode ?? []);
    expect(new Set(modes)).toEqual(new Set([0o440]));
    expect(pod.securityContext?.fsGroup).toBe(pod.securityContext?.runAsGroup);
  });
});
