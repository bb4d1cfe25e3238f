import { isIP } from 'node:net';
import { type Endpoint, formatEndpoint } from '../../constructs/control-plane/facts.ts';
import { done, InvalidConfiguration, type Outcome } from '../outcome.ts';
import { known, type Phase } from '../scope.ts';
import { apiServerService } from './api-server-service.ts';

/** The address of the hosted API server: decided once, published for Cluster API, never changed. */
export const endpoint: Phase = {
  condition: 'SyncControlPlaneEndpointReady',
  needs: [apiServerService],
  async run({ clusterObject, hostedControlPlane, facts, writer }): Promise<Outcome> {
    const published = complete(hostedControlPlane.spec.controlPlaneEndpoint);
    const preset = published ?? complete(clusterObject.spec?.controlPlaneEndpoint);

    const decision = decideEndpoint(preset, known(facts, 'endpoint'));
    if ('problem' in decision) throw new InvalidConfiguration('EndpointMismatch', decision.problem);

    if (!published) await writer.publishEndpoint(decision.endpoint);

    return done({ endpoint: decision.endpoint });
  },
};

/**
 * The endpoint to use: the one that is already given, provided that the way in can serve it, else the one it offers.
 * A given host name is taken on trust: it may be a DNS record of the offered address.
 */
export function decideEndpoint(
  preset: Endpoint | undefined,
  offered: Endpoint,
): { readonly endpoint: Endpoint } | { readonly problem: string } {
  if (!preset) return { endpoint: offered };
  if (preset.port !== offered.port) {
    return {
      problem: `the endpoint is ${formatEndpoint(preset)} and cannot change, but the exposure serves port ${offered.port}: set its port to ${preset.port}`,
    };
  }
  if (isIP(preset.host) && isIP(offered.host) && preset.host !== offered.host) {
    return {
      problem: `the endpoint is ${formatEndpoint(preset)} and cannot change, but the exposure has the address ${offered.host}: give it ${preset.host} again`,
    };
  }
  return { endpoint: preset };
}

function complete(given: { host?: string | undefined; port?: number | undefined } | undefined): Endpoint | undefined {
  return given?.host && given.port ? { host: given.host, port: given.port } : undefined;
}
