import { isIP } from 'node:net';
import type { Exposure } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { ports } from '../../cluster/ports.ts';
import { endpointByHostName, sharedService } from './by-host-name.ts';
import { sharedHosts, tooLong } from './hosts.ts';
import { chooseListener } from './listener.ts';
import { type Contradiction, resolvedEndpoints, type ExposureStrategy, type EndpointInput } from './strategy.ts';
import { admittedHostsAnnotation } from '../../api/group.ts';

/** A shared Gateway with TLS passthrough. The endpoint is a host name under the wildcard of one of its listeners. */
export function gateway(exposure: Exposure<'gateway'>, spec: HostedControlPlaneSpec): ExposureStrategy {
  const gatewayName = exposure.gateway;
  const name = `Gateway ${gatewayName.namespace}/${gatewayName.name}`;
  const decide: ExposureStrategy['endpoint'] = (cluster, outside, preset) => {
    if (!outside.gatewayServed) {
      return refused(
        'GatewayAPINotInstalled',
        `${name} cannot be read, because the management cluster does not serve the Gateway API in version v1: install the Gateway API`,
      );
    }
    if (!outside.gateway) {
      return refused(
        'GatewayNotFound',
        `${name} does not exist: create it, or set the gateway field to another Gateway`,
      );
    }
    const contradicts = contradiction(preset);
    if (contradicts) return contradicts;

    const choice = chooseListener({
      gateway: outside.gateway,
      gatewayName,
      namespace: cluster.namespace,
      namespaceLabels: outside.namespaceLabels ?? {},
      preset,
    });
    if (!choice.found) return choice.refusal;

    const { listener } = choice;
    const hosts = sharedHosts(exposure, preset.host ?? `${cluster.name}.${cluster.namespace}.${listener.domain}`);
    const problem = tooLong(hosts);
    if (problem !== undefined) {
      return refused(
        'GatewayListenerUnsuitable',
        `listener ${listener.name} of ${name}: ${problem}: shorten its hostname *.${listener.domain}, the namespace ${cluster.namespace} or the name ${cluster.name} of the Cluster`,
      );
    }
    if (!mayHave(hosts.api, { cluster, outside, domain: listener.domain })) {
      return refused(
        'HostNotAdmitted',
        `the host ${hosts.api} is not below ${cluster.namespace}.${listener.domain}, where the hosts of namespace ${cluster.namespace} are behind listener ${listener.name} of ${name}: ${howToAdmit({ host: hosts.api, namespace: cluster.namespace, domain: listener.domain })}`,
      );
    }
    return endpointByHostName(hosts, listener.port, { cluster, outside, gatewayListener: listener.name });
  };

  return {
    service: sharedService(spec),
    securePort: ports.api,
    contradiction,
    endpoint(cluster, outside, preset) {
      const decision = decide(cluster, outside, preset);
      const { host, port } = preset;
      if (decision.known || host === undefined || port === undefined || isIP(host)) return decision;
      // Certificates must be renewed even while the Gateway is missing.
      const before = endpointByHostName(sharedHosts(exposure, host), port, { cluster, outside });
      return before.known ? { ...decision, meanwhile: resolvedEndpoints(before) } : decision;
    },
  };
}

function contradiction({ host }: Partial<Endpoint>): Contradiction | undefined {
  if (host === undefined || !isIP(host)) return undefined;
  return refused(
    'EndpointMismatch',
    `the endpoint is the address ${host} and cannot change, but a Gateway routes by host name: create the control plane again with a host name as endpoint, or with another exposure strategy`,
  );
}

function mayHave(
  host: string,
  { cluster, outside, domain }: { cluster: HostedCluster; outside: EndpointInput; domain: string },
): boolean {
  if (outside.heldHosts?.includes(host.toLowerCase())) return true;
  const { namespace } = cluster;
  const annotations = outside.gateway?.metadata?.annotations ?? {};
  return admitsHost({ host, namespace, domain, annotations, seesEveryClaim: outside.seesEveryClaim ?? false });
}

function refused(reason: Contradiction['reason'], message: string): Contradiction {
  return { known: false, reason, message };
}

/** The input for the decision whether a namespace may take a host behind a Gateway. */
export interface HostAdmissionInput {
  readonly host: string;
  readonly namespace: string;
  /** Domain of the listener that serves the host. */
  readonly domain: string;
  /** Annotations of the Gateway. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Whether the operator sees the claims of all namespaces. */
  readonly seesEveryClaim: boolean;
}

/**
 * Whether a namespace may take a host: one below its own name, which no other namespace can take, or one that the owner
 * of the Gateway admits. An operator that does not see all claims ignores what is admitted for every namespace, because
 * it cannot see which claim is older.
 */
export function admitsHost({ host, namespace, domain, annotations, seesEveryClaim }: HostAdmissionInput): boolean {
  const name = host.toLowerCase();
  if (name.endsWith(`.${namespace}.${domain.toLowerCase()}`)) return true;
  return entriesOf(annotations[admittedHostsAnnotation] ?? '').some(
    (entry) =>
      (entry.namespace === namespace || (entry.namespace === '*' && seesEveryClaim)) && matches(entry.pattern, name),
  );
}

/** What to do about a host that is not admitted. */
function howToAdmit({ host, namespace, domain }: Pick<HostAdmissionInput, 'host' | 'namespace' | 'domain'>): string {
  return `create the control plane again with a host below ${namespace}.${domain}, or let the owner of the Gateway set its annotation ${admittedHostsAnnotation} to ${namespace}/${host}`;
}

function entriesOf(annotation: string): { namespace: string; pattern: string }[] {
  return annotation.split(/[\s,]+/).flatMap((entry) => {
    const [namespace, pattern, ...more] = entry.toLowerCase().split('/');
    return namespace && pattern && more.length === 0 ? [{ namespace, pattern }] : [];
  });
}

/** As for the listeners of a Gateway, a wildcard stands for any number of labels. */
function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true;
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : name === pattern;
}
