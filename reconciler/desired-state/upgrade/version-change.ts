import type { DeploymentObject, StatefulSetObject } from '../../../imports/kubernetes.ts';
import { Deployment, StatefulSet } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { binariesAnnotation, versionAnnotation } from '../../../constructs/pod/component.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { etcdVersion, etcdVersionIn, parseVersion, tagOf } from '../../../constructs/cluster/versions.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { Lived } from './lived.ts';

/** Software with a version of its own. */
export type Versioned = 'Kubernetes' | 'etcd';

/** What shows a change: the versions that the spec requests, and what runs. */
export interface VersionContext extends Pick<ControlPlaneContext, 'hostedControlPlane' | 'reader'> {
  /** With the versions of the spec. */
  readonly accepted: HostedCluster;
  /** What has never lived has no version to change. */
  readonly lived: Lived;
}

/** What runs. */
type Running = Pick<VersionContext, 'accepted' | 'reader' | 'lived'>;

/**
 * The change to a later minor version that the spec requests, such as `Kubernetes 1.35 to 1.36`; undefined if there is none. A
 * way back, which only exists while the later minor serves nowhere, needs nothing that a change needs.
 */
export function minorChange(what: Versioned, context: Running): string | undefined {
  const [present, wanted] = what === 'Kubernetes' ? ofKubernetes(context) : ofEtcd(context);
  const [from, to] = [present, wanted].map((version) => (version === undefined ? undefined : parseVersion(version)));
  if (!from || !to || from.major !== to.major || from.minor >= to.minor) return undefined;
  return `${what} ${from.major}.${from.minor} to ${to.major}.${to.minor}`;
}

function ofKubernetes(context: Running): [string | undefined, string] {
  return [renderedVersion(context), context.accepted.spec.version];
}

/** The version of Kubernetes that the API servers were rendered for last; undefined before one has served. */
export function renderedVersion(context: Running): string | undefined {
  return context.lived.apiServers ? annotationsOf(context)?.[versionAnnotation] : undefined;
}

/** The version of the binaries with which the API servers emulate {@link renderedVersion}; undefined if they do not. */
export function renderedBinaries(context: Running): string | undefined {
  return annotationsOf(context)?.[binariesAnnotation];
}

function annotationsOf({ accepted, reader }: Pick<Running, 'accepted' | 'reader'>) {
  return reader.get<DeploymentObject>(Deployment, namesOf(accepted.name).apiServer)?.spec?.template?.metadata
    ?.annotations;
}

function ofEtcd(context: Running): [string | undefined, string] {
  return [etcdVersionIn(tagOf(renderedEtcdImage(context))), etcdVersion(context.accepted)];
}

/** The image with which etcd's members were rendered last; undefined before etcd has lived. */
export function renderedEtcdImage({ accepted, reader, lived }: Running): string | undefined {
  if (!lived.etcd) return undefined;
  const set = reader.get<StatefulSetObject>(StatefulSet, namesOf(accepted.name).etcd);
  return set?.spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd')?.image;
}
