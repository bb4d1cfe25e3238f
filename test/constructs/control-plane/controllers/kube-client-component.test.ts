import { describe, expect, it } from 'vitest';
import { namesOf } from '../../../../constructs/cluster/names.ts';
import { Rendered } from '../../../support/rendered-cluster.ts';

describe.each([
  ['controller-manager', 'controllerManager'],
  ['scheduler', 'scheduler'],
])('the %s', (component, field) => {
  const name = `c1-${component}`;
  const program = `kube-${component}`;

  it('connects to the API server through its Service and port', () => {
    const kubeconfig = (port: number) => {
      const rendered = new Rendered({ spec: { exposure: { loadBalancer: { port } } } });
      return (rendered.object('ConfigMap', name)['data'] as Record<string, string>)['kubeconfig'];
    };
    expect(kubeconfig(443)).toContain('server: https://s-c1.team.svc:443\n');
    expect(kubeconfig(6443)).toContain('server: https://s-c1.team.svc:6443\n');
  });

  it('serves until its successor is ready, so that one that never gets ready leaves no gap', () => {
    expect(new Rendered().object('Deployment', name)['spec']).toMatchObject({
      strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
  });

  it('has the settings of the user', () => {
    const settings = {
      replicas: 2,
      priorityClassName: 'high',
      args: { v: '4', profiling: 'true' },
      image: { tag: 'v9' },
    };
    const rendered = new Rendered({ spec: { deployment: { [field]: settings } } });
    expect(rendered.object('Deployment', name)['spec']).toMatchObject({ replicas: 2 });
    expect(rendered.workload(name).pod.priorityClassName).toBe('high');
    expect(rendered.flags(name, program)).toMatchObject({ v: '4', profiling: 'false' });
    expect(rendered.workload(name).containers[0]?.image).toBe(`registry.k8s.io/${program}:v9`);
  });

  it('does not restart for certificates that it reloads', () => {
    const { secrets } = namesOf('c1');
    const template = (certificates: Record<string, string>) =>
      new Rendered({}, { certificates }).workload(name).template;
    const renewed = { [secrets.controllerManager]: 'new', [secrets.scheduler]: 'new', [secrets.frontProxyCA]: 'new' };
    expect(template(renewed)).toEqual(template({}));
  });
});

it('the controller manager restarts for the CA it signs with and the key it signs tokens with', () => {
  const { secrets } = namesOf('c1');
  const template = (certificates: Record<string, string>, signers: Record<string, string> = {}) =>
    new Rendered({}, { certificates, signers }).workload('c1-controller-manager').template;
  expect(template({ [secrets.clusterCA]: 'new' })).not.toEqual(template({}));
  expect(template({}, { [secrets.serviceAccount]: 'new' })).not.toEqual(template({}));
  expect(template({ [secrets.serviceAccount]: 'verified by API servers only' })).toEqual(template({}));
});

it('the controller manager allocates networks for nodes and services from those of the Cluster', () => {
  const network = { services: { cidrBlocks: ['10.1.0.0/16'] }, pods: { cidrBlocks: ['10.2.0.0/16', 'fd00::/56'] } };
  expect(new Rendered({ network }).flags('c1-controller-manager', 'kube-controller-manager')).toMatchObject({
    'allocate-node-cidrs': 'true',
    'cluster-cidr': '10.2.0.0/16,fd00::/56',
    'service-cluster-ip-range': '10.1.0.0/16',
  });
});
