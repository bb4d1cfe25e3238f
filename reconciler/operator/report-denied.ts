import type { DeniedNetworks } from '../clusters/management/shared-resources.ts';
import type { Logger } from '../engine/log.ts';

/**
 * Says once, at the start, to which networks of the management cluster control planes may not connect, and what the operator could
 * not find out. Nothing else shows that a control plane reaches what it should not.
 */
export function reportDenied(
  log: Pick<Logger, 'info' | 'warn'>,
  { unread, pods, services, nodes, all }: DeniedNetworks,
): void {
  log.info({ pods, services, nodes, denied: all.length }, 'control planes may not connect to these networks');
  if (unread.length > 0) {
    const kinds = unread.join(' and ');
    log.warn(
      { kinds },
      `the operator may not list ${kinds}, so that control planes may connect to what only these show: bind the ClusterRole of the installation, or set DENIED_CIDRS to the networks of nodes, pods and Services`,
    );
  }
  if (all.length === 0) {
    log.warn('nothing is denied to control planes but link-local addresses: set DENIED_CIDRS');
  } else if (pods.length === 0 || services.length === 0) {
    const what = [...(pods.length === 0 ? ['pods'] : []), ...(services.length === 0 ? ['Services'] : [])].join(' and ');
    log.warn(
      `the management cluster does not say which networks its ${what} have: unless DENIED_CIDRS has them, control planes may connect to them`,
    );
  }
}
