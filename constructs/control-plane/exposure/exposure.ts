import { exposureOf } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { gateway } from './gateway.ts';
import { ingress } from './ingress.ts';
import { loadBalancer } from './load-balancer.ts';
import { nodePort } from './node-port.ts';
import type { ExposureStrategy } from './strategy.ts';

/** The exposure strategy that a spec sets. */
export function exposureStrategy(spec: HostedControlPlaneSpec): ExposureStrategy {
  const exposure = exposureOf(spec);
  switch (exposure.kind) {
    case 'gateway':
      return gateway(exposure, spec);
    case 'ingress':
      return ingress(exposure, spec);
    case 'loadBalancer':
      return loadBalancer(exposure);
    case 'nodePort':
      return nodePort(exposure);
  }
}
