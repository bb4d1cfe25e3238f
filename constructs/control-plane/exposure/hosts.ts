import {
  exposureOf,
  exposuresOf,
  type ExposureSource,
  isShared,
  type SharedExposure,
} from '../../api/exposure-spec.ts';
import type { Endpoint } from '../../cluster/facts.ts';

/** The host names of one control plane where several control planes share an address and a port. */
export interface Hosts {
  readonly api: string;
  readonly konnectivity: string;
  /**
   * Host name of the tunnel, which serves only the proxies of workers. The control plane holds the name in any case.
   */
  readonly tunnel: string;
}

/**
 * The host names of a control plane with this API host; undefined for exposure strategies that share no address.
 * @param apiHost host of the endpoint: set for an Ingress, published, or offered by a Gateway's listener
 */
export function hostsOf(spec: ExposureSource, apiHost: string): Hosts | undefined {
  const exposure = exposureOf(spec);
  return isShared(exposure) ? sharedHosts(exposure, apiHost) : undefined;
}

/** {@link hostsOf} for the exposure strategies that share an address. */
export function sharedHosts(exposure: SharedExposure, apiHost: string): Hosts {
  const derived = (purpose: string) => `${purpose}.${apiHost}`;
  return exposure.kind === 'gateway'
    ? { api: apiHost, konnectivity: derived('konnectivity'), tunnel: derived('tunnel') }
    : {
        api: apiHost,
        konnectivity: exposure.ingress.konnectivityHost,
        tunnel: exposure.ingress.tunnelHost ?? derived('tunnel'),
      };
}

/**
 * The shared host names that a control plane holds: with a Gateway once its endpoint is published, with an Ingress from
 * the beginning, because the spec sets them. None when the spec, which may be invalid, is ambiguous.
 */
export function heldHosts(
  spec: ExposureSource & { readonly controlPlaneEndpoint?: Partial<Endpoint> | undefined },
): string[] {
  const [exposure, ...more] = exposuresOf(spec);
  const published = spec.controlPlaneEndpoint?.host;
  if (!exposure || more.length > 0 || !isShared(exposure)) return [];
  const apiHost = exposure.kind === 'ingress' ? exposure.ingress.apiHost : undefined;
  const endpoint = published ?? apiHost;
  const hosts: string[] = endpoint === undefined ? [] : Object.values(sharedHosts(exposure, endpoint));
  return [...new Set(apiHost === undefined ? hosts : [apiHost, ...hosts])];
}

/** Maximum length of a host name, and of one of its labels, in DNS. */
const longestHost = 253;
const longestLabel = 63;

/** The first of these names that is too long for DNS, with the numbers; undefined when all are valid. */
export function tooLong({ api, konnectivity, tunnel }: Hosts): string | undefined {
  for (const host of [api, konnectivity, tunnel]) {
    const label = host.split('.').find(({ length }) => length > longestLabel);
    if (label !== undefined) {
      return `in the host name ${host} the part "${label}" has ${label.length} characters, and DNS allows ${longestLabel}`;
    }
  }
  const [longest] = [api, konnectivity, tunnel].sort((a, b) => b.length - a.length);
  return longest !== undefined && longest.length > longestHost
    ? `the host name ${longest} has ${longest.length} characters, and DNS allows ${longestHost}`
    : undefined;
}
