import type { Exposure } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import { canonicalHost } from '../../cluster/canonical-host.ts';
import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import { ports } from '../../cluster/ports.ts';
import { endpointByHostName, sharedService } from './by-host-name.ts';
import { sharedHosts, tooLong } from './hosts.ts';
import { mismatch } from './fixed-endpoint.ts';
import type { Contradiction, ExposureStrategy } from './strategy.ts';

/** A shared ingress controller with TLS passthrough. The endpoint is the host name that the user sets. */
export function ingress(exposure: Exposure<'ingress'>, spec: HostedControlPlaneSpec): ExposureStrategy {
  const { apiHost, port } = exposure.ingress;
  const offered = { host: apiHost, port };
  const hosts = sharedHosts(exposure, apiHost);
  return {
    service: sharedService(spec),
    securePort: ports.api,
    contradiction,
    endpoint: (cluster, outside, preset) =>
      contradiction(preset) ?? endpointByHostName(hosts, port, { cluster, outside }),
  };

  function contradiction(fixed: Partial<Endpoint>): Contradiction | undefined {
    return lengthProblem() ?? otherHost(fixed, offered) ?? mismatch(fixed, offered);
  }

  function lengthProblem(): Contradiction | undefined {
    const problem = tooLong(hosts);
    return problem === undefined
      ? undefined
      : {
          known: false,
          reason: 'InvalidConfiguration',
          message: `${problem}: set shorter host names in exposure.ingress`,
        };
  }
}

/**
 * Clients send the host name they connect to, and the ingress controller only routes the configured one: an alias would
 * lead nowhere.
 */
function otherHost(preset: Partial<Endpoint>, offered: Endpoint): Contradiction | undefined {
  if (preset.host === undefined || canonicalHost(preset.host) === offered.host) return undefined;
  return {
    known: false,
    reason: 'EndpointMismatch',
    message: `the endpoint is ${formatEndpoint({ ...offered, ...preset })} and cannot change, but exposure.ingress.apiHost is ${offered.host}: set it to ${preset.host}`,
  };
}
