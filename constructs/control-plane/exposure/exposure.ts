import { isIP } from 'node:net';
import { type Exposure, exposureOf, type ExposureKind } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { ports } from '../../cluster/ports.ts';
import { mismatch } from './fixed-endpoint.ts';
import { gateway } from './gateway.ts';
import { ingress } from './ingress.ts';
import { loadBalancer } from './load-balancer.ts';
import type { ExposureStrategy } from './strategy.ts';

type Builder<Kind extends ExposureKind> = (exposure: Exposure<Kind>, spec: HostedControlPlaneSpec) => ExposureStrategy;

const builders: { readonly [Kind in ExposureKind]: Builder<Kind> } = { gateway, ingress, loadBalancer, nodePort };

/** The exposure strategy that a spec sets. */
export function exposureStrategy(spec: HostedControlPlaneSpec): ExposureStrategy {
  const exposure = exposureOf(spec);
  // The builder of its kind: TypeScript does not connect the kind with its builder.
  return (builders[exposure.kind] as Builder<ExposureKind>)(exposure, spec);
}

/** A Service of type NodePort with fixed ports. The endpoint is the address that the user sets. */
function nodePort({ nodePort: exposure }: Exposure<'nodePort'>): ExposureStrategy {
  const offered = { host: exposure.address, port: exposure.port };
  return {
    service: {
      type: 'NodePort',
      apiPorts: { api: ports.api },
      apiNodePort: exposure.port,
      konnectivityNodePort: exposure.konnectivityPort,
    },
    securePort: exposure.port,
    contradiction: (fixed) => mismatch(fixed, offered),
    endpoint(_cluster, _outside, preset) {
      return (
        mismatch(preset, offered) ?? {
          known: true,
          endpoint: { ...offered, ...definedOnly(preset) },
          konnectivityEndpoint: { host: exposure.address, port: exposure.konnectivityPort },
          advertiseAddress: isIP(exposure.address) ? exposure.address : undefined,
        }
      );
    },
  };
}
