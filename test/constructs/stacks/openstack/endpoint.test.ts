import { describe, expect, it } from 'vitest';
import { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';
import { type EndpointFields, endpointOfCapo } from '../../../support/stacks/capo-endpoint.ts';
import { patchedTemplate } from '../../../support/stacks/class-engine.ts';
import { classes, network } from './variable-cases.ts';

/** What the provider writes into the infrastructure object of a Cluster. */
const written = { controlPlaneEndpoint: { host: '192.0.2.10', port: 6443 } };

function specWith(variables: OpenStackVariables): EndpointFields {
  const { spec } = patchedTemplate(classes.v1beta1, network, OpenStackVariables.parse(variables));
  return (spec as { template: { spec: EndpointFields } }).template.spec;
}

const cases: [string, OpenStackVariables, before: string, after: string][] = [
  ['the defaults', {}, 'none', '192.0.2.10:6443'],
  ['a Gateway', { gatewayName: 'shared' }, 'none', '192.0.2.10:6443'],
  ['a floating IP', { disableAPIServerFloatingIP: false }, 'a floating IP', '192.0.2.10:6443'],
  [
    'a load balancer of CAPO, which the construct refuses',
    { apiServerLoadBalancer: 'octavia-ovn' },
    'an Octavia load balancer',
    'an Octavia load balancer',
  ],
];

describe('CAPO with a cluster of the class', () => {
  it.each(cases)(
    'finds, with %s, these endpoints before and after the provider writes its own',
    (_, given, before, after) => {
      const spec = specWith(given);
      expect(endpointOfCapo(spec)).toBe(before);
      expect(endpointOfCapo({ ...spec, ...written })).toBe(after);
    },
  );
});
