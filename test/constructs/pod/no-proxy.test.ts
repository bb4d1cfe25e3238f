import { describe, expect, it } from 'vitest';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { withExceptions } from '../../../constructs/pod/no-proxy.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { clusterOf, knownFacts } from '../../support/rendered-cluster.ts';
import { workloadsOf } from '../../support/rendered-objects.ts';

const proxy = { name: 'HTTPS_PROXY', value: 'http://proxy.example.org:3128' };
const inside = ['.svc', '10.0.0.0/16'];

describe('the exceptions of a proxy', () => {
  it.each<[what: string, given: readonly { name: string; value?: string }[], exceptions: string | undefined]>([
    ['are not set without a proxy', [{ name: 'GOMEMLIMIT', value: '1GiB' }], undefined],
    ['are not set for an empty proxy', [{ name: 'HTTPS_PROXY', value: '' }], undefined],
    ['are everything that is inside', [proxy], '.svc,10.0.0.0/16'],
    ['are the same for a proxy in small letters', [{ ...proxy, name: 'http_proxy' }], '.svc,10.0.0.0/16'],
    [
      'begin with those of the user',
      [proxy, { name: 'NO_PROXY', value: 'a.example.org, .svc' }],
      'a.example.org,.svc,10.0.0.0/16',
    ],
    ['stay everything', [proxy, { name: 'NO_PROXY', value: '*' }], '*'],
    ['are completed in small letters, too', [proxy, { name: 'no_proxy', value: '' }], '.svc,10.0.0.0/16'],
  ])('%s', (_, given, exceptions) => {
    const found = withExceptions(given, inside).filter(({ name }) => name.toLowerCase() === 'no_proxy');
    expect(found.map(({ value }) => value)).toEqual(exceptions === undefined ? [] : [exceptions]);
    expect(withExceptions(given, inside).length).toBeLessThanOrEqual(given.length + 1);
  });

  const spec = {
    deployment: { defaults: { env: [proxy] } },
    coredns: { env: [proxy] },
    kubeProxy: { env: [proxy] },
    konnectivityClient: { env: [proxy] },
  };
  const cluster = clusterOf({ spec, network: { pods: { cidrBlocks: ['10.9.0.0/16'] } } });

  const proxied = (revision: number) => {
    const given = { ...cluster, release: releaseOf(36, revision) };
    const objects = [...renderControlPlane(given, knownFacts), ...renderWorkload(given, knownFacts)];
    return workloadsOf(objects).flatMap(({ object, containers }) =>
      containers
        .filter(({ env = [] }) => env.some(({ name }) => name === proxy.name))
        .map(({ env = [] }) => [object.metadata.name, env.find(({ name }) => name === 'NO_PROXY')?.value] as const),
    );
  };

  it('contain Services, members of etcd, and both networks, in every pod that has a proxy', () => {
    const expected = 'localhost,127.0.0.1,::1,.svc,.cluster.local,10.96.0.0/12,10.9.0.0/16';
    const found = proxied(4);
    expect(found.map(([name]) => name).sort()).toEqual([
      'c1-api-server',
      'c1-controller-manager',
      'c1-etcd',
      'c1-scheduler',
      'coredns',
      'konnectivity-agent',
      'kube-proxy',
    ]);
    expect(new Set(found.map(([, exceptions]) => exceptions))).toEqual(new Set([expected]));
  });

  it('stay as they were by an earlier release revision', () => {
    expect(proxied(3).map(([, exceptions]) => exceptions)).toEqual(Array.from({ length: 7 }, () => undefined));
  });
});
