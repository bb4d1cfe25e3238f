import {
  type Facts,
  type HostedCluster,
  networkOf,
  parseHostedControlPlane,
  type RenderedObject,
  renderControlPlane,
} from '../../../constructs/index.ts';

/** The program of constructs/LIBRARY.md: what a HostedControlPlane becomes. */
export function render(hostedControlPlane: unknown): RenderedObject[] {
  const parsed = parseHostedControlPlane(hostedControlPlane);
  if (!parsed.valid) throw new Error(parsed.message);
  const cluster: HostedCluster = {
    name: 'prod',
    namespace: 'team-a',
    network: networkOf(undefined),
    spec: parsed.hostedControlPlane.spec,
  };
  const facts: Facts = {
    endpoint: { host: '192.0.2.10', port: 6443 },
    konnectivityEndpoint: { host: '192.0.2.10', port: 8132 },
    certificates: {},
    mounts: {},
  };
  const objects = renderControlPlane(cluster, facts);
  return objects;
}
