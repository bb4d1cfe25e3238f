import { exposureOf, type ExposureSource } from '../api/exposure-spec.ts';
import type { InClusterAccessSource } from '../api/in-cluster-access-spec.ts';
import { parseVersion } from './versions.ts';

/** The first minor whose API server can set environment variables of pods by itself. */
const policyMinor = 34;

/**
 * Whether proxies of the workers dial a tunnel: they do where the API server is told apart by a host name, which the
 * connections of pods do not name.
 */
export function usesTunnel(spec: ExposureSource & InClusterAccessSource & { readonly version: string }): boolean {
  const { kind } = exposureOf(spec);
  if (kind !== 'gateway' && kind !== 'ingress') return false;
  const access = spec.inClusterAccess ?? ((parseVersion(spec.version)?.minor ?? 0) < policyMinor ? 'Proxy' : 'Policy');
  return access === 'Proxy';
}
