import { isIP } from 'node:net';
import type { Exposure } from '../../api/exposure-spec.ts';
import type { HostedControlPlaneSpec } from '../../api/hosted-control-plane.ts';
import type { Endpoint } from '../../cluster/facts.ts';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { ports } from '../../cluster/ports.ts';
import { reachedBy, sharedService } from './by-host-name.ts';
import { admitsHost, howToAdmit } from './host-admission.ts';
import { sharedHosts, tooLong } from './hosts.ts';
import { chooseListener } from './listener.ts';
import { type Contradiction, reachedOf, type ExposureStrategy, type Outside } from './strategy.ts';

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
    return reachedBy(hosts, listener.port, { cluster, outside, gatewayListener: listener.name });
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
      const before = reachedBy(sharedHosts(exposure, host), port, { cluster, outside });
      return before.known ? { ...decision, meanwhile: reachedOf(before) } : decision;
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
  { cluster, outside, domain }: { cluster: HostedCluster; outside: Outside; domain: string },
): boolean {
  if (outside.heldHosts?.includes(host.toLowerCase())) return true;
  const { namespace } = cluster;
  const annotations = outside.gateway?.metadata?.annotations ?? {};
  return admitsHost({ host, namespace, domain, annotations, seesEveryClaim: outside.seesEveryClaim ?? false });
}

function refused(reason: Contradiction['reason'], message: string): Contradiction {
  return { known: false, reason, message };
}
