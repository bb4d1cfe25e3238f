import { z } from 'zod';
import { inBoth, whenEqual, whenSet } from '../class-patch.ts';
import type { VariableRows } from './row.ts';

/** Octavia's providers by the value of `apiServerLoadBalancer`, and the name of the patch of each. */
const octavia = [
  { name: 'apiServerLoadBalancerOctaviaAmphora', variable: 'octavia-amphora', provider: 'amphora' },
  { name: 'apiServerLoadBalancerOctaviaOVN', variable: 'octavia-ovn', provider: 'ovn' },
] as const;

const loadBalancer = { v1beta1: '/apiServerLoadBalancer', v1beta2: '/apiServer/managedLoadBalancer' } as const;

/** Variables of the network in OpenStack, and of what CAPO would create there for an API server. */
export const networkVariables = {
  networkExternalID: {
    schema: z
      .uuidv4()
      .optional()
      .meta({ format: 'uuid4' })
      .describe('ID of the external network. CAPO chooses it if there is exactly one.'),
    patches: [
      {
        name: 'networkExternalID',
        target: 'infrastructureCluster',
        enabledIf: whenSet('networkExternalID'),
        operations: inBoth({ op: 'add', path: '/externalNetwork', template: 'id: {{ .networkExternalID | quote }}' }),
      },
    ],
  },
  networkMTU: {
    schema: z.int32().min(68).optional().describe('MTU of the network. OpenStack chooses it if unset.'),
    patches: [
      {
        name: 'networkMTU',
        target: 'infrastructureCluster',
        enabledIf: whenSet('networkMTU'),
        operations: {
          v1beta1: [{ op: 'add', path: '/networkMTU', variable: 'networkMTU' }],
          v1beta2: [{ op: 'add', path: '/managedNetwork', template: 'mtu: {{ .networkMTU }}' }],
        },
      },
    ],
  },
  nodeCIDR: {
    schema: z
      .cidrv4()
      .default('10.8.0.0/20')
      .meta({ format: 'cidr' })
      .describe('Network of the nodes, which CAPO creates.'),
    patches: [
      {
        name: 'nodeCIDRSubnet',
        target: 'infrastructureCluster',
        operations: inBoth({
          op: 'add',
          path: '/managedSubnets',
          template: '- cidr: {{ .nodeCIDR | quote }}\n  dnsNameservers: {{ .dnsNameservers | toJson }}\n',
        }),
      },
    ],
  },
  dnsNameservers: {
    schema: z
      .array(z.string())
      .default(['9.9.9.9', '149.112.112.112'])
      .describe('DNS servers of the nodes, at which the host names of the control plane must resolve.'),
    patches: { partOf: 'nodeCIDR' },
  },
  disableAPIServerFloatingIP: {
    schema: z
      .boolean()
      .default(true)
      .describe('Whether CAPO allocates no floating IP for an API server. The control plane uses none.'),
    patches: [
      {
        name: 'disableAPIServerFloatingIP',
        target: 'infrastructureCluster',
        operations: {
          v1beta1: [{ op: 'add', path: '/disableAPIServerFloatingIP', variable: 'disableAPIServerFloatingIP' }],
          v1beta2: [
            { op: 'add', path: '/apiServer/enableFloatingIP', template: '{{ not .disableAPIServerFloatingIP }}' },
          ],
        },
      },
    ],
  },
  apiServerLoadBalancer: {
    schema: z
      .enum(['none', ...octavia.map(({ variable }) => variable)])
      .default('none')
      .describe(
        'Load balancer that CAPO creates for an API server. Only none works with a hosted control plane: CAPO would take the address of any other as the endpoint, and no API server is behind it.',
      ),
    patches: octavia.map(({ name, variable, provider }) => ({
      name,
      target: 'infrastructureCluster' as const,
      enabledIf: whenEqual('apiServerLoadBalancer', variable),
      operations: {
        v1beta1: enabled(loadBalancer.v1beta1, provider),
        v1beta2: enabled(loadBalancer.v1beta2, provider),
      },
    })),
  },
  apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: {
    schema: z.array(z.string()).default([]).describe('CIDRs that may connect to a load balancer of octavia-amphora.'),
    patches: [
      {
        name: 'apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs',
        target: 'infrastructureCluster',
        enabledIf:
          '{{ and (eq .apiServerLoadBalancer "octavia-amphora") (gt (len .apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs) 0) }}',
        operations: {
          v1beta1: [allowedCIDRs(loadBalancer.v1beta1)],
          v1beta2: [allowedCIDRs(loadBalancer.v1beta2)],
        },
      },
    ],
  },
} as const satisfies VariableRows;

function enabled(path: string, provider: string) {
  return [
    { op: 'replace', path: `${path}/enabled`, value: true },
    { op: 'add', path: `${path}/provider`, value: provider },
  ] as const;
}

function allowedCIDRs(path: string) {
  const variable = 'apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs';
  return { op: 'add', path: `${path}/allowedCIDRs`, variable } as const;
}
