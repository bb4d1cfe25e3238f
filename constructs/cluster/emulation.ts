import type { Flag } from '../pod/flags.ts';
import type { HostedCluster } from './cluster.ts';
import { hasChange, minorOf } from './versions.ts';

type Emulating = Pick<HostedCluster, 'spec' | 'binaries'>;

/** How long new binaries emulate the minor before if the spec does not say it. */
export const defaultHold = '5m';

const flagName = 'emulated-version';

/** The version of the binaries of API servers and controllers. */
export function binariesVersion({ spec, binaries }: Emulating): string {
  return binaries ?? spec.version;
}

/** The flags of an API server, controller manager or scheduler whose binaries emulate the minor before theirs. */
export function emulationFlags({ spec, binaries }: Emulating): Flag[] {
  if (binaries === undefined) return [];
  return [[flagName, `1.${minorOf(spec.version)}`, 'serves and stores only what the minor before can read']];
}

/**
 * Whether the binaries of a version can emulate an earlier one with these settings. Only the minor before is emulated, and
 * users who emulate one themselves decide alone.
 */
export function canEmulate(
  binaries: string,
  emulated: string,
  { deployment }: Pick<HostedCluster['spec'], 'deployment'>,
): boolean {
  if (minorOf(binaries) !== minorOf(emulated) + 1 || !hasChange(binaries, 'emulatesMinorBefore')) return false;
  const { apiServer, controllerManager, scheduler } = deployment;
  return [apiServer, controllerManager, scheduler].every(({ args }) => args?.[flagName] === undefined);
}
