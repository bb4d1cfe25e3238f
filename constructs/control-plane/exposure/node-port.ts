import { isIP } from 'node:net';
import type { Exposure } from '../../api/exposure-spec.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { ports } from '../../cluster/ports.ts';
import { mismatch } from './fixed-endpoint.ts';
import type { ExposureStrategy } from './strategy.ts';

/** A Service of type NodePort with fixed ports. The endpoint is the address that the user sets. */
export function nodePort({ nodePort: exposure }: Exposure<'nodePort'>): ExposureStrategy {
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
