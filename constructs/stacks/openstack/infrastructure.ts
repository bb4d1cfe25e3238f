import type { Construct } from 'constructs';
import {
  OpenStackClusterTemplate,
  type OpenStackClusterTemplateSpecTemplateSpecManagedSecurityGroupsAllNodesSecurityGroupRules as SecurityGroupRule,
  OpenStackClusterTemplateV1Beta2,
  OpenStackMachineTemplate,
  OpenStackMachineTemplateV1Beta2,
} from '../../../imports/infrastructure.cluster.x-k8s.io.ts';
import type { CapoVersion } from './class-patch.ts';

export interface InfrastructureTemplateProps {
  readonly name: string;
}

/** The security group rules without which Cilium's nodes do not reach each other. */
const ciliumRules = [
  { name: 'VXLAN (Cilium)', protocol: 'udp', port: 8472 },
  { name: 'Health checks (Cilium)', protocol: 'tcp', port: 4240 },
  { name: 'Hubble (Cilium)', protocol: 'tcp', port: 4244 },
].map(({ name, protocol, port }): SecurityGroupRule => ({
  name,
  direction: 'ingress',
  etherType: 'IPv4',
  protocol,
  portRangeMin: port,
  portRangeMax: port,
  remoteManagedGroups: ['worker'],
}));

/** A patch of the ClusterClass replaces every value that says this. */
const patched = 'set-by-a-variable';
const identityRef = { name: patched, cloudName: patched };
const image = { filter: { name: patched } };

/**
 * The templates of a network and of a worker's machine, in each version of CAPO. CAPO creates nothing for an API server:
 * the endpoint is that of the hosted control plane, which the provider writes into the OpenStackCluster.
 */
export const infrastructureTemplates: Readonly<
  Record<
    CapoVersion,
    {
      readonly cluster: (scope: Construct, id: string, props: InfrastructureTemplateProps) => Construct;
      readonly machine: (scope: Construct, id: string, props: InfrastructureTemplateProps) => Construct;
    }
  >
> = {
  v1beta1: {
    cluster: (scope, id, { name }) =>
      new OpenStackClusterTemplate(scope, id, {
        metadata: { name },
        spec: {
          template: {
            spec: {
              identityRef: { ...identityRef, type: 'Secret' },
              apiServerLoadBalancer: { enabled: false },
              disableApiServerFloatingIp: true,
              managedSecurityGroups: { allowAllInClusterTraffic: false, allNodesSecurityGroupRules: ciliumRules },
            },
          },
        },
      }),
    machine: (scope, id, { name }) =>
      new OpenStackMachineTemplate(scope, id, {
        metadata: { name },
        spec: { template: { spec: { flavor: patched, image } } },
      }),
  },
  v1beta2: {
    cluster: (scope, id, { name }) =>
      new OpenStackClusterTemplateV1Beta2(scope, id, {
        metadata: { name },
        spec: {
          template: {
            spec: {
              identityRef,
              apiServer: { managedLoadBalancer: { enabled: false }, enableFloatingIp: false },
              managedSecurityGroups: { clusterNodesSecurityGroupRules: ciliumRules },
            },
          },
        },
      }),
    machine: (scope, id, { name }) =>
      new OpenStackMachineTemplateV1Beta2(scope, id, {
        metadata: { name },
        spec: { template: { spec: { flavor: { filter: { name: patched } }, image } } },
      }),
  },
};
