import { minorOf } from '../../../constructs/cluster/versions.ts';
import { observeRestore } from '../../backup/restore/observe-restore.ts';
import { isRestored } from '../../backup/restore/plan-restore.ts';
import { ownerOf } from '../../backup/ownership.ts';
import { restoreOf } from '../../backup/restore/request.ts';
import { renderedVersion, type VersionContext } from './version-change.ts';

/**
 * Why the API servers keep their minor although the spec asks for an earlier one, as a sentence; undefined when they do not.
 * API servers of the later minor may have written what the earlier ones cannot read, so that the version goes back between
 * the end of a restore and the start of the API servers, and at no other time.
 */
export function awaitedRestore(context: VersionContext): string | undefined {
  const { spec, status } = context.hostedControlPlane;
  const rendered = renderedVersion(context);
  if (rendered === undefined || minorOf(rendered) <= minorOf(spec.version)) return undefined;
  const later = status?.versions?.find(({ version }) => minorOf(version) > minorOf(spec.version));
  if (later === undefined || isReplaced(context)) return undefined;
  const why = `API servers keep ${rendered}, because etcd contains objects that ${spec.version} may not support`;
  return spec.etcd.restore === undefined
    ? `${why}: set spec.version to ${rendered} again, and run hcp rollback to go back`
    : `${why}: they go back once a restore has replaced its data, see the condition EtcdRestoreReady`;
}

/** Whether the requested restore has ended, and no API server has started since. */
function isReplaced({ accepted, hostedControlPlane, reader }: VersionContext): boolean {
  const { restore, replicas } = hostedControlPlane.spec.etcd;
  if (restore === undefined) return false;
  const { servers, members } = observeRestore({ cluster: accepted, members: replicas, reader });
  const isStopped = servers.wanted.length === 0 && servers.pods.length === 0;
  return isStopped && isRestored(members, restoreOf(restore, ownerOf(accepted)).id);
}

/** Whether etcd has not started yet on the data that a restore has written, so that it may have an earlier minor too. */
export function hasNewData(context: VersionContext): boolean {
  const { accepted, hostedControlPlane, reader } = context;
  const { etcd } = observeRestore({ cluster: accepted, members: hostedControlPlane.spec.etcd.replicas, reader });
  return !etcd.isWanted && etcd.pods.length === 0 && isReplaced(context);
}
