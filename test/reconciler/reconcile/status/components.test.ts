import { describe, expect, it } from 'vitest';
import type { ComponentStatus } from '../../../../constructs/api/component-status.ts';
import { componentsOf, type Workloads } from '../../../../reconciler/reconcile/status/components.ts';
import { deployment, etcd, observation, whole } from '../../../support/observation.ts';

const versions = { apiServer: 'v1.36.3', etcd: ['3.6.8', '3.6.16', '3.6.9'] };

function component(name: ComponentStatus['name'], changes: Partial<Workloads> = {}): ComponentStatus | undefined {
  return componentsOf({ ...observation(), ...changes }, versions).find((one) => one.name === name);
}

const withImage = (image: string) => {
  const { spec, ...rest } = deployment(whole);
  return { ...rest, spec: { ...spec, template: { spec: { containers: [{ image }] } } } };
};
const running = { ...etcd(3), status: { replicas: 3, readyReplicas: 3, availableReplicas: 3, updatedReplicas: 3 } };

describe('the components of a control plane', () => {
  it('are listed in the order in which they start', () => {
    const names = componentsOf(observation(), versions).map(({ name }) => name);
    expect(names).toEqual(['etcd', 'api-server', 'controller-manager', 'scheduler']);
  });

  it('have their counts and addresses, and the oldest version that runs', () => {
    expect(component('etcd', { etcd: running })).toEqual({
      name: 'etcd',
      ready: true,
      replicas: 3,
      readyReplicas: 3,
      version: '3.6.8',
      addresses: [0, 1, 2].map((member) => ({ hostname: `c1-etcd-${member}.e-c1-etcd.team.svc`, port: 2379 })),
    });
    expect(component('api-server')).toEqual({
      name: 'api-server',
      ready: true,
      replicas: 3,
      readyReplicas: 3,
      version: 'v1.36.3',
      addresses: [{ hostname: 's-c1.team.svc', port: 6443 }],
    });
  });

  it.each([
    ['registry.k8s.io/kube-scheduler:v1.36.3', 'v1.36.3'],
    ['registry.example.org:5000/mirror/kube-scheduler:v1.36.3-hardened', 'v1.36.3-hardened'],
    ['registry.k8s.io/kube-scheduler:v1.36.3@sha256:0123', 'v1.36.3'],
    ['registry.example.org:5000/kube-scheduler@sha256:0123', undefined],
  ])('have the tag of the image %s as version of a controller', (image, version) => {
    expect(component('scheduler', { scheduler: withImage(image) })?.version).toBe(version);
  });

  it('have no version of a controller while an older one may run', () => {
    const rolling = {
      ...withImage('registry.k8s.io/kube-scheduler:v1.36.3'),
      status: { ...whole, updatedReplicas: 1 },
    };
    expect(component('scheduler', { scheduler: rolling })).toMatchObject({
      ready: false,
      message: '1 of 3 replicas updated',
    });
    expect(component('scheduler', { scheduler: rolling })?.version).toBeUndefined();
  });

  it.each<[ComponentStatus['name'], Partial<Workloads>]>([
    ['etcd', { etcd: undefined }],
    ['api-server', { apiServer: undefined }],
    ['controller-manager', { controllerManager: undefined }],
    ['scheduler', { scheduler: undefined }],
  ])('say what is missing before the workload of %s exists', (name, missing) => {
    const found = component(name, missing);
    expect(found).toMatchObject({ ready: false, replicas: 0, readyReplicas: 0 });
    expect(found?.message).toMatch(/does not exist yet$/);
    expect(found?.addresses).toBeUndefined();
  });

  it('are not ready without pods, although none is missing', () => {
    const none = deployment({ observedGeneration: 2 }, 0);
    expect(component('scheduler', { scheduler: none })).toMatchObject({ ready: false, message: 'no pod is ready' });
  });

  it('become not ready, and ready again, with their pods', () => {
    const states = [whole, { ...whole, readyReplicas: 2, availableReplicas: 2 }, whole];
    expect(states.map((state) => component('api-server', { apiServer: deployment(state) })?.ready)).toEqual([
      true,
      false,
      true,
    ]);
  });
});
