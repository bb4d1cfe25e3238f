import { type Exposure, exposureOf, type ExposureKind } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { gateway } from './gateway.ts';
import { ingress } from './ingress.ts';
import { loadBalancer } from './load-balancer.ts';
import { nodePort } from './node-port.ts';
import type { ExposureStrategy } from './strategy.ts';

type Builder<Kind extends ExposureKind> = (exposure: Exposure<Kind>, spec: HostedControlPlaneSpec) => ExposureStrategy;

const builders: { readonly [Kind in ExposureKind]: Builder<Kind> } = { gateway, ingress, loadBalancer, nodePort };

/** The exposure strategy that a spec sets. */
export function exposureStrategy(spec: HostedControlPlaneSpec): ExposureStrategy {
  const exposure = exposureOf(spec);
  // The builder of its kind, which TypeScript cannot tell from one of another kind.
  return (builders[exposure.kind] as Builder<ExposureKind>)(exposure, spec);
}
