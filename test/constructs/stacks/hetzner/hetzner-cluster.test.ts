import { describe, expect, it } from 'vitest';
import { refusedByCaph } from '../../../support/stacks/caph-rules.ts';
import { problemsOf } from '../../../support/stacks/foreign-schema.ts';

const withoutLoadBalancer = { controlPlaneLoadBalancer: { enabled: false } };
const endpoint = { host: 'api.example.org', port: 443 };
const allowed = { 'capi.syself.com/allow-empty-control-plane-address': 'true' };

interface Case {
  readonly spec: object;
  readonly annotations?: Record<string, string>;
  readonly refused: readonly string[];
}

/** HetznerClusters at their creation, and what CAPH refuses of each. */
const cases: Readonly<Record<string, Case>> = {
  'an endpoint and no load balancer': { spec: { ...withoutLoadBalancer, controlPlaneEndpoint: endpoint }, refused: [] },
  'neither endpoint nor load balancer': { spec: withoutLoadBalancer, refused: ['no endpoint'] },
  'a host without a port': {
    spec: { ...withoutLoadBalancer, controlPlaneEndpoint: { host: 'api.example.org', port: 0 } },
    refused: ['no endpoint'],
  },
  'no endpoint, as the annotation allows': { spec: withoutLoadBalancer, annotations: allowed, refused: [] },
  'another value of the annotation': {
    spec: withoutLoadBalancer,
    annotations: { ...allowed, 'capi.syself.com/allow-empty-control-plane-address': 'yes' },
    refused: ['no endpoint'],
  },
  'a load balancer of CAPH': { spec: { controlPlaneLoadBalancer: { enabled: true, region: 'nbg1' } }, refused: [] },
  'nothing about the load balancer, which CAPH has by default': {
    spec: {},
    refused: ['a load balancer without a region'],
  },
  'no region': {
    spec: { ...withoutLoadBalancer, controlPlaneEndpoint: endpoint, controlPlaneRegions: [] },
    refused: ['no region'],
  },
  'regions of one zone': {
    spec: { ...withoutLoadBalancer, controlPlaneEndpoint: endpoint, controlPlaneRegions: ['nbg1', 'hel1'] },
    refused: [],
  },
  'regions of two zones': {
    spec: { ...withoutLoadBalancer, controlPlaneEndpoint: endpoint, controlPlaneRegions: ['nbg1', 'ash'] },
    refused: ['regions of several network zones'],
  },
  'a network of another zone': {
    spec: {
      ...withoutLoadBalancer,
      controlPlaneEndpoint: endpoint,
      hcloudNetwork: { enabled: true, networkZone: 'us-west' },
    },
    refused: ['a network zone other than that of the regions'],
  },
};

describe('CAPH, asked for a HetznerCluster', () => {
  it.each(Object.entries(cases))('with %s', (_, { spec, annotations, refused }) => {
    const object = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
      kind: 'HetznerCluster',
      metadata: { name: 'any', ...(annotations && { annotations }) },
      spec: {
        controlPlaneRegions: ['nbg1'],
        hetznerSecretRef: { name: 'hetzner', key: { hcloudToken: 'hcloud' } },
        sshKeys: {},
        ...spec,
      },
    };
    expect(problemsOf(object)).toEqual([]);
    expect(refusedByCaph(object)).toEqual(refused);
  });
});
