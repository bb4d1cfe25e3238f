import { App } from 'cdk8s';
import type { RenderedObject } from '../../../../constructs/control-plane/chart.ts';
import { type CapoVersion, capoVersions } from '../../../../constructs/stacks/openstack/class-patch.ts';
import { OpenStackClusterClass } from '../../../../constructs/stacks/openstack/cluster-class.ts';
import type { OpenStackVariables } from '../../../../constructs/stacks/openstack/variables.ts';

/** The objects of the ClusterClass for each version of CAPO. */
export const classes = Object.fromEntries(
  capoVersions.map((capo) => [
    capo,
    new OpenStackClusterClass(new App(), 'class', { name: 'stack-v1', capo }).toJson() as RenderedObject[],
  ]),
) as Record<CapoVersion, RenderedObject[]>;

const id = '8a3f2c1e-9b7d-4e5f-8c6a-1d2e3f4a5b6c';
export const controlPlane = 'HostedControlPlaneTemplate';
export const network = 'OpenStackClusterTemplate';
export const machine = 'OpenStackMachineTemplate';

interface Case {
  readonly given: OpenStackVariables;
  readonly kind: string;
  /** What the template holds then, in the spelling of each version; of both if there is only one. */
  readonly v1beta1: object;
  readonly v1beta2?: object;
}

/** For each variable a value, and where it arrives. */
export const cases: Readonly<Record<keyof OpenStackVariables, Case>> = {
  controlPlaneReplicas: { given: { controlPlaneReplicas: 5 }, kind: controlPlane, v1beta1: { replicas: 5 } },
  gatewayName: {
    given: { gatewayName: 'shared' },
    kind: controlPlane,
    v1beta1: { gateway: { name: 'shared', namespace: 'default' } },
  },
  gatewayNamespace: {
    given: { gatewayName: 'shared', gatewayNamespace: 'gateways' },
    kind: controlPlane,
    v1beta1: { gateway: { name: 'shared', namespace: 'gateways' } },
  },
  certSANs: {
    given: { certSANs: ['api.example.org', '192.0.2.7'] },
    kind: controlPlane,
    v1beta1: { apiServer: { certSANs: ['api.example.org', '192.0.2.7'] } },
  },
  networkExternalID: { given: { networkExternalID: id }, kind: network, v1beta1: { externalNetwork: { id } } },
  networkMTU: {
    given: { networkMTU: 1400 },
    kind: network,
    v1beta1: { networkMTU: 1400 },
    v1beta2: { managedNetwork: { mtu: 1400 } },
  },
  nodeCIDR: {
    given: { nodeCIDR: '10.9.0.0/16' },
    kind: network,
    v1beta1: { managedSubnets: [{ cidr: '10.9.0.0/16', dnsNameservers: ['9.9.9.9', '149.112.112.112'] }] },
  },
  dnsNameservers: {
    given: { dnsNameservers: ['192.0.2.53'] },
    kind: network,
    v1beta1: { managedSubnets: [{ cidr: '10.8.0.0/20', dnsNameservers: ['192.0.2.53'] }] },
  },
  disableAPIServerFloatingIP: {
    given: { disableAPIServerFloatingIP: false },
    kind: network,
    v1beta1: { disableAPIServerFloatingIP: false },
    v1beta2: { apiServer: { enableFloatingIP: true } },
  },
  apiServerLoadBalancer: {
    given: { apiServerLoadBalancer: 'octavia-ovn' },
    kind: network,
    v1beta1: { apiServerLoadBalancer: { enabled: true, provider: 'ovn' } },
    v1beta2: { apiServer: { managedLoadBalancer: { enabled: true, provider: 'ovn' } } },
  },
  apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: {
    given: {
      apiServerLoadBalancer: 'octavia-amphora',
      apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: ['192.0.2.0/24'],
    },
    kind: network,
    v1beta1: { apiServerLoadBalancer: { enabled: true, provider: 'amphora', allowedCIDRs: ['192.0.2.0/24'] } },
    v1beta2: {
      apiServer: { managedLoadBalancer: { enabled: true, provider: 'amphora', allowedCIDRs: ['192.0.2.0/24'] } },
    },
  },
  workerFlavor: {
    given: { workerFlavor: 'SCS-2V-4' },
    kind: machine,
    v1beta1: { flavor: 'SCS-2V-4' },
    v1beta2: { flavor: { filter: { name: 'SCS-2V-4' } } },
  },
  workerRootDisk: { given: { workerRootDisk: 25 }, kind: machine, v1beta1: { rootVolume: { sizeGiB: 25 } } },
  workerServerGroupID: {
    given: { workerServerGroupID: id },
    kind: machine,
    v1beta1: { serverGroup: { id } },
  },
  workerAdditionalBlockDevices: {
    given: { workerAdditionalBlockDevices: [{ name: 'data' }, { name: 'logs', sizeGiB: 5, type: 'fast' }] },
    kind: machine,
    v1beta1: {
      additionalBlockDevices: [
        { name: 'data', sizeGiB: 20, storage: { type: 'Volume', volume: { type: '__DEFAULT__' } } },
        { name: 'logs', sizeGiB: 5, storage: { type: 'Volume', volume: { type: 'fast' } } },
      ],
    },
  },
  workerSecurityGroups: {
    given: { workerSecurityGroups: ['workers'] },
    kind: machine,
    v1beta1: { securityGroups: [{ filter: { name: 'workers' } }] },
  },
  workerSecurityGroupIDs: {
    given: { workerSecurityGroupIDs: [id] },
    kind: machine,
    v1beta1: { securityGroups: [{ id }] },
  },
  imageName: {
    given: { imageName: 'flatcar' },
    kind: machine,
    v1beta1: { image: { filter: { name: 'flatcar-v1.34.10' } } },
  },
  imageIsOrc: {
    given: { imageIsOrc: true },
    kind: machine,
    v1beta1: { image: { imageRef: { name: 'ubuntu-capi-image-v1.34.10' } } },
  },
  imageAddVersion: {
    given: { imageAddVersion: false },
    kind: machine,
    v1beta1: { image: { filter: { name: 'ubuntu-capi-image' } } },
  },
  identityRef: {
    given: { identityRef: { name: 'other' } },
    kind: network,
    v1beta1: { identityRef: { name: 'other', cloudName: 'openstack' } },
  },
  sshKeyName: { given: { sshKeyName: 'mine' }, kind: machine, v1beta1: { sshKeyName: 'mine' } },
  securityGroups: {
    given: { securityGroups: ['all'], workerSecurityGroups: ['workers'], workerSecurityGroupIDs: [id] },
    kind: machine,
    v1beta1: { securityGroups: [{ filter: { name: 'all' } }, { filter: { name: 'workers' } }, { id }] },
  },
  securityGroupIDs: {
    given: { securityGroupIDs: [id] },
    kind: machine,
    v1beta1: { securityGroups: [{ id }] },
  },
};

/** Every value of the cases at once. Together with a Gateway there is no load balancer of the control plane. */
export const allTogether = Object.assign({}, ...Object.values(cases).map(({ given }) => given)) as OpenStackVariables;
