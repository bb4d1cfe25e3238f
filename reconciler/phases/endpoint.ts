import { exposureOf } from '../../constructs/api/exposure-spec.ts';
import { definedOnly } from '../../constructs/control-plane/defined.ts';
import { wayIn } from '../../constructs/control-plane/exposure/exposure.ts';
import type { Outside } from '../../constructs/control-plane/exposure/way-in.ts';
import type { Endpoint } from '../../constructs/control-plane/facts.ts';
import { done, InvalidConfiguration, type Outcome } from '../outcome.ts';
import type { Phase, Scope } from '../scope.ts';
import { apiServerService } from './api-server-service.ts';

/** The address of the hosted API server: decided once, published for Cluster API, never changed. */
export const endpoint: Phase = {
  condition: 'SyncControlPlaneEndpointReady',
  needs: [apiServerService],
  async run(scope): Promise<Outcome> {
    const { cluster, clusterObject, hostedControlPlane, writer } = scope;
    const given = hostedControlPlane.spec.controlPlaneEndpoint;
    const published = complete(given);
    // A user may give only the host, or only the port: the way in offers the other half.
    const preset = published ?? complete(clusterObject.spec?.controlPlaneEndpoint) ?? definedOnly(given ?? {});

    const decision = wayIn(cluster.spec).endpoint(cluster, outsideOf(scope), preset);
    if (!decision.known) throw new InvalidConfiguration(decision.reason, decision.message);
    const { known: _, ...facts } = decision;

    if (!published) await writer.publishEndpoint(facts.endpoint);

    return done(facts);
  },
};

function outsideOf({ cluster, facts, surroundings }: Scope): Outside {
  const exposure = exposureOf(cluster.spec);
  return {
    serviceAddress: facts.serviceAddress,
    gatewayServed: surroundings.servedVersions('Gateway').length > 0,
    gateway: exposure.kind === 'gateway' ? surroundings.gateway(exposure.gateway) : undefined,
    namespaceLabels: surroundings.namespaceLabels(),
  };
}

function complete(given: { host?: string | undefined; port?: number | undefined } | undefined): Endpoint | undefined {
  return given?.host && given.port ? { host: given.host, port: given.port } : undefined;
}
