import { exposureOf } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { ports } from '../ports.ts';
import { loadBalancer } from './load-balancer.ts';
import { nodePort } from './node-port.ts';
import type { WayIn } from './way-in.ts';

/** The way in that a spec asks for. */
export function wayIn(_cluster: string, spec: HostedControlPlaneSpec): WayIn {
  const exposure = exposureOf(spec);
  switch (exposure.kind) {
    case 'loadBalancer':
      return loadBalancer(exposure);
    case 'nodePort':
      return nodePort(exposure);
    case 'gateway':
    case 'ingress':
      return unsupported;
  }
}

/** Keeps the place: the object is accepted and says why nothing happens. */
const unsupported: WayIn = {
  service: { type: 'ClusterIP', apiPorts: { api: ports.api } },
  securePort: ports.api,
  endpoint: () => ({
    known: false,
    reason: 'ExposureNotSupported',
    message: 'this way in is not implemented by this release: use exposure.loadBalancer or exposure.nodePort',
  }),
};
