import { isIP } from 'node:net';
import { type Endpoint, formatEndpoint } from '../../cluster/facts.ts';
import { canonicalHost } from '../../cluster/canonical-host.ts';
import type { Contradiction } from './strategy.ts';

/**
 * The reason why the exposure strategy cannot serve an endpoint that is already fixed; undefined when it can. A given
 * host name is accepted without a check: it may be a DNS record of the offered address.
 */
export function mismatch(preset: Partial<Endpoint>, offered: Endpoint): Contradiction | undefined {
  const fixed = formatEndpoint({ ...offered, ...preset });
  if (preset.port !== undefined && preset.port !== offered.port) {
    return refused(
      `the endpoint is ${fixed} and cannot change, but the exposure strategy serves port ${offered.port}: set its port to ${preset.port}`,
    );
  }
  const { host } = preset;
  if (host && isIP(host) && isIP(offered.host) && canonicalHost(host) !== canonicalHost(offered.host)) {
    return refused(
      `the endpoint is ${fixed} and cannot change, but the exposure strategy has the address ${offered.host}: give it the address ${host} again`,
    );
  }
  return undefined;
}

function refused(message: string): Contradiction {
  return { known: false, reason: 'EndpointMismatch', message };
}
