import { expect, it } from 'vitest';
import { kubernetesServiceAddresses, networkOf } from '../../../constructs/cluster/cluster.ts';

it('fills in the fields that a Cluster leaves out', () => {
  const defaults = { serviceDomain: 'cluster.local', services: ['10.96.0.0/12'], pods: ['10.0.0.0/16'] };
  expect(networkOf(undefined)).toEqual(defaults);
  expect(networkOf({ serviceDomain: '', services: { cidrBlocks: [] }, pods: {} })).toEqual(defaults);
});

it('uses the fields of a Cluster', () => {
  const network = networkOf({
    serviceDomain: 'cluster.example',
    services: { cidrBlocks: ['10.1.0.0/16', 'fd00::/112'] },
    pods: { cidrBlocks: ['10.2.0.0/16'] },
  });
  expect(network).toEqual({
    serviceDomain: 'cluster.example',
    services: ['10.1.0.0/16', 'fd00::/112'],
    pods: ['10.2.0.0/16'],
  });
  expect(kubernetesServiceAddresses(network)).toEqual(['10.1.0.1', 'fd00::1']);
});
