import { App } from 'cdk8s';
import { describe, expect, it } from 'vitest';
import { haproxyValues } from '../../../../constructs/stacks/hetzner/haproxy.ts';
import { HetznerClusterDeployment, HetznerClusterTemplate } from '../../../../constructs/stacks/hetzner/k0rdent.ts';
import type { GivenHetznerValues } from '../../../../constructs/stacks/hetzner/values.ts';
import type { KubeObject } from '../../../../reconciler/kube/object.ts';
import { problemsOf } from '../../../support/stacks/foreign-schema.ts';
import { accepted, writtenForK0s } from './values-cases.ts';

function deploymentOf(config: GivenHetznerValues): KubeObject {
  const props = { name: 'cluster01', credential: 'hcloud-cluster-provisioning', config };
  const [object] = new HetznerClusterDeployment(new App(), 'deployment', props).toJson() as KubeObject[];
  if (!object) throw new Error('nothing is rendered');
  return object;
}

describe('the template for kcm', () => {
  const [template] = new HetznerClusterTemplate(new App(), 'template', { repository: 'ours' }).toJson() as KubeObject[];

  it('is accepted by its schema, and has the name that users of other templates know', () => {
    expect(template && problemsOf(template)).toEqual([]);
    expect(template?.metadata).toEqual({ name: 'hetzner-hosted-cp-1-2-0', namespace: 'kcm-system' });
  });

  it('is the chart of this repository', () => {
    expect(template).toMatchObject({
      spec: { helm: { chartSpec: { chart: 'hetzner-hosted-cp', version: '1.2.0' } } },
    });
  });
});

describe('a cluster of kcm', () => {
  it.each(Object.entries(accepted))('with %s is accepted by its schema', (_, config) => {
    expect(problemsOf(deploymentOf(config))).toEqual([]);
  });

  it('has the config as the user wrote it', () => {
    expect(deploymentOf(writtenForK0s)).toEqual({
      apiVersion: 'k0rdent.mirantis.com/v1beta1',
      kind: 'ClusterDeployment',
      metadata: { name: 'cluster01', namespace: 'kcm-system' },
      spec: { template: 'hetzner-hosted-cp-1-2-0', credential: 'hcloud-cluster-provisioning', config: writtenForK0s },
    });
  });

  it('refuses a config that the chart refuses', () => {
    const config = { ...writtenForK0s, hcloudNetwork: { networkZone: 'us-east' } } as const;
    expect(() => deploymentOf(config)).toThrow('hcloudNetwork.networkZone must be the network zone of region');
  });
});

describe("the values of HAProxy's ingress controller", () => {
  it.each([
    ['behind the load balancer of the management cluster', {}, { type: 'ClusterIP' }],
    [
      'with a load balancer of its own',
      { loadBalancerRegion: 'nbg1' },
      { type: 'LoadBalancer', annotations: { 'load-balancer.hetzner.cloud/location': 'nbg1' } },
    ],
  ] as const)('pass TLS through %s', (_, props, service) => {
    expect(haproxyValues(props)).toEqual({
      controller: { ingressClass: 'haproxy', config: { 'ssl-passthrough': 'true' }, service },
    });
  });
});
