/**
 * The constructs as a library: render control planes or the installation in your own cdk8s app, or inspect the objects
 * of a HostedControlPlane before you apply it.
 *
 * @packageDocumentation
 */
export type { ParsedHostedControlPlane, Problem } from './api/parse.ts';
export { parseHostedControlPlane } from './api/parse-manifest.ts';
export type { HostedControlPlane, HostedControlPlaneSpec } from './api/hosted-control-plane.ts';
export type {
  HostedControlPlaneTemplate,
  HostedControlPlaneTemplateSpec,
} from './api/hosted-control-plane-template.ts';
export type { ComponentTemplateSpec } from './api/component-template.ts';
export { componentTemplateCRD, hostedControlPlaneCRD, hostedControlPlaneTemplateCRD } from './api/crd.ts';
export {
  ControlPlaneChart,
  type ControlPlaneChartProps,
  type RenderedObject,
  renderControlPlane,
} from './control-plane/chart.ts';
export { type ClusterNetwork, type ClusterNetworkSpec, type HostedCluster, networkOf } from './cluster/cluster.ts';
export type {
  ClusterDns,
  Endpoint,
  EtcdFacts,
  EtcdRestoreFacts,
  Facts,
  Issuers,
  ManagementNetwork,
  RestoreRun,
  RevisionFacts,
  ServiceAddress,
} from './cluster/facts.ts';
export { supportedMinors } from './cluster/minors.ts';
export { unsupportedVersion } from './cluster/versions.ts';
export { ProviderChart, type ProviderChartProps, renderProvider } from './provider/chart.ts';
export { managerImage } from './provider/image.ts';
export type { ManagerSettings } from './provider/operator.ts';
export { renderWorkload, WorkloadChart, type WorkloadChartProps } from './workload/chart.ts';
export { renderHetznerCluster } from './stacks/hetzner/chart.ts';
export {
  HetznerClusterDeployment,
  type HetznerClusterDeploymentProps,
  HetznerClusterTemplate,
  type HetznerClusterTemplateProps,
} from './stacks/hetzner/k0rdent.ts';
export type { GivenHetznerValues } from './stacks/hetzner/values.ts';
export { OpenStackClusterClass, type OpenStackClusterClassProps } from './stacks/openstack/cluster-class.ts';
export { OpenStackHostedCluster, type OpenStackHostedClusterProps } from './stacks/openstack/cluster.ts';
export type { OpenStackVariables } from './stacks/openstack/variables.ts';
