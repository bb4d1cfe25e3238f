import { isIP } from 'node:net';
import { type Endpoint, formatEndpoint } from '../../constructs/control-plane/facts.ts';
import { definedOnly } from '../../constructs/control-plane/defined.ts';
import { done, InvalidConfiguration, type Outcome } from '../outcome.ts';
import { canonicalHost } from '../pki/plan.ts';
import { known, type Phase } from '../scope.ts';
import { apiServerService } from './api-server-service.ts';

/** The address of the hosted API server: decided once, published for Cluster API, never changed. */
export const endpoint: Phase = {
  condition: 'SyncControlPlaneEndpointReady',
  needs: [apiServerService],
  async run({ clusterObject, hostedControlPlane, facts, writer }): Promise<Outcome> {
    const given = hostedControlPlane.spec.controlPlaneEndpoint;
    const offered = known(facts, 'endpoint');
    const published = complete(given);
    // A user may give only the host, or only the port: the way in offers the other half.
    const preset = published ??
      complete(clusterObject.spec?.controlPlaneEndpoint) ?? { ...offered, ...definedOnly(given ?? {}) };

    const decision = decideEndpoint(preset, offered);
    if ('problem' in decision) throw new InvalidConfiguration('EndpointMismatch', decision.problem);

    if (!published) await writer.publishEndpoint(decision.endpoint);

    return done({ endpoint: decision.endpoint });
  },
};

/**
 * The endpoint to use: the one that is given, provided that the way in can serve it.
 * A given host name is taken on trust: it may be a DNS record of the offered address.
 */
export function decideEndpoint(
  given: Endpoint,
  offered: Endpoint,
): { readonly endpoint: Endpoint } | { readonly problem: string } {
  if (given.port !== offered.port) {
    return {
      problem: `the endpoint is ${formatEndpoint(given)} and cannot change, but the exposure serves port ${offered.port}: set its port to ${given.port}`,
    };
  }
  if (isIP(given.host) && isIP(offered.host) && canonicalHost(given.host) !== canonicalHost(offered.host)) {
    return {
      problem: `the endpoint is ${formatEndpoint(given)} and cannot change, but the exposure has the address ${offered.host}: give it ${given.host} again`,
    };
  }
  return { endpoint: given };
}

function complete(given: { host?: string | undefined; port?: number | undefined } | undefined): Endpoint | undefined {
  return given?.host && given.port ? { host: given.host, port: given.port } : undefined;
}
