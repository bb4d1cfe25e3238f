import { exposureOf } from '../../constructs/api/exposure-spec.ts';
import type { HeldHost } from '../../constructs/api/status.ts';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';
import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import { exposureStrategy } from '../../constructs/control-plane/exposure/exposure.ts';
import {
  type EndpointDecision,
  type EndpointInput,
  type ResolvedEndpoints,
  resolvedEndpoints,
} from '../../constructs/control-plane/exposure/strategy.ts';
import { type Endpoint, formatEndpoint } from '../../constructs/cluster/facts.ts';
import { degraded, done, InvalidConfiguration, type Outcome } from '../engine/outcome.ts';
import { unlessRefused } from '../engine/refusals.ts';
import type { StatusReport } from '../engine/status-report.ts';
import { phase, type Scope } from './scope.ts';
import { apiServerService } from './api-server-service.ts';
import { hostClaimed, holdHosts, refuseClaimedHosts } from './host-claims.ts';

type EndpointOutcome = Outcome<'endpoint' | 'konnectivityEndpoint'>;

/** The address of the hosted API server: determined once, published for Cluster API, never changed. */
export const endpoint = phase({
  condition: 'SyncControlPlaneEndpointReady',
  needs: [apiServerService],
  establishes: ['endpoint', 'konnectivityEndpoint'],
  async run(scope): Promise<EndpointOutcome> {
    const { clusterObject, hostedControlPlane, writer } = scope;
    const given = hostedControlPlane.spec.controlPlaneEndpoint ?? {};
    const published = complete(given);

    // A user may set only the host, or only the port. The exposure strategy provides the other one.
    const preset = published ?? complete(clusterObject.spec?.controlPlaneEndpoint) ?? definedOnly(given);
    const decision = decide(scope, preset);
    // Endpoints that clients and certificates already use do not change until the exposure strategy works again.
    if (!decision.known && published && decision.meanwhile) {
      return degraded(decision.reason, decision.message, { facts: decision.meanwhile });
    }

    const resolved = decided(decision);
    if (published) return keep(scope, resolved);

    refuseClaimedHosts(scope, resolved.endpoint);
    const theirs = await writer.publishToInfrastructure(resolved.endpoint);
    if (theirs && !agrees(theirs, preset)) {
      throw new InvalidConfiguration('EndpointMismatch', contradiction(resolved.endpoint, theirs));
    }

    // The infrastructure determines what is not fixed otherwise.
    const agreed = theirs ? decided(decide(scope, theirs)) : resolved;
    refuseClaimedHosts(scope, agreed.endpoint);
    const hosts = await holdHosts(scope, agreed.endpoint);
    // If two control planes started at the same time, neither saw the other before. Now at least one of them does.
    refuseClaimedHosts(scope, agreed.endpoint);
    await writer.publishEndpoint(agreed.endpoint);

    return done(agreed, undefined, reportOf(hosts));
  },
});

/**
 * An endpoint that clients already use stays a fact despite any problem, because their certificates must be renewed.
 */
async function keep(scope: Scope, resolved: ResolvedEndpoints): Promise<EndpointOutcome> {
  const before = hostClaimed(scope, resolved.endpoint);
  if (before !== undefined) return degraded('HostClaimed', before, { facts: resolved });
  const hosts = await holdHosts(scope, resolved.endpoint);
  const claimed = hostClaimed(scope, resolved.endpoint);
  if (claimed !== undefined) return degraded('HostClaimed', claimed, { facts: resolved });

  const theirs = await publishAgain(scope, resolved.endpoint);
  if (theirs && !agrees(theirs, resolved.endpoint)) {
    return degraded('EndpointMismatch', contradiction(resolved.endpoint, theirs), {
      facts: resolved,
      ...reportOf(hosts),
    });
  }

  return done(resolved, undefined, reportOf(hosts));
}

/** A published endpoint stays a fact when the API server refuses to store it again. */
async function publishAgain(scope: Scope, endpoint: Endpoint): Promise<Endpoint | undefined> {
  const { clusterObject, writer } = scope;
  const { kind = 'infrastructure object', name = '' } = clusterObject.spec?.infrastructureRef ?? {};
  const object = { apiVersion: '', kind, metadata: { name } };
  return unlessRefused(scope, object, writer.publishToInfrastructure(endpoint));
}

function reportOf(hosts: readonly HeldHost[] | undefined): { report?: StatusReport } {
  return hosts === undefined ? {} : { report: { hosts: [...hosts] } };
}

function decide(scope: Scope, preset: Partial<Endpoint>): EndpointDecision {
  return exposureStrategy(scope.cluster.spec).endpoint(scope.cluster, outsideOf(scope), preset);
}

/** @throws InvalidConfiguration when the exposure strategy cannot serve the fixed endpoint. */
function decided(decision: EndpointDecision): ResolvedEndpoints {
  if (!decision.known) throw new InvalidConfiguration(decision.reason, decision.message);
  return resolvedEndpoints(decision);
}

function outsideOf({ cluster, facts, sharedResources }: Scope): EndpointInput {
  const exposure = exposureOf(cluster.spec);
  if (exposure.kind !== 'gateway') return { serviceAddress: facts.serviceAddress };
  return {
    serviceAddress: facts.serviceAddress,
    gatewayServed: sharedResources.servedVersions('Gateway').length > 0,
    gateway: sharedResources.gateway(exposure.gateway),
    namespaceLabels: sharedResources.namespaceLabels(),
    heldHosts: sharedResources.heldHosts().map(({ name }) => name),
    seesEveryClaim: sharedResources.seesEveryClaim,
  };
}

function contradiction(resolved: Endpoint, infrastructure: Endpoint): string {
  return `the endpoint is ${formatEndpoint(resolved)} and cannot change, but the infrastructure object of the Cluster has ${formatEndpoint(infrastructure)}: set its spec.controlPlaneEndpoint to ${formatEndpoint(resolved)}`;
}

function agrees({ host, port }: Endpoint, preset: Partial<Endpoint>): boolean {
  const isSameHost = preset.host === undefined || canonicalHost(preset.host) === canonicalHost(host);
  return isSameHost && (preset.port === undefined || preset.port === port);
}

function complete(given: { host?: string | undefined; port?: number | undefined } | undefined): Endpoint | undefined {
  return given?.host && given.port ? { host: given.host, port: given.port } : undefined;
}
