import { Deployment, StatefulSet } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { etcdVersion, etcdVersionIn, parseVersion, tagOf } from '../../constructs/cluster/versions.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Reader } from '../management/view.ts';

/** Software with a version of its own. */
export type Versioned = 'Kubernetes' | 'etcd';

/** The part of a workload that contains its version. */
interface Templated extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> };
      readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image?: string }[] };
    };
  };
}

/**
 * The change of a minor version that the spec requests, such as `Kubernetes 1.35 to 1.36`; undefined if there is none.
 */
export function minorChange(what: Versioned, cluster: HostedCluster, reader: Reader): string | undefined {
  const [present, wanted] = what === 'Kubernetes' ? ofKubernetes(cluster, reader) : ofEtcd(cluster, reader);
  const [from, to] = [minorIn(present), minorIn(wanted)];
  return from === undefined || to === undefined || from === to ? undefined : `${what} ${from} to ${to}`;
}

function ofKubernetes({ name, spec }: HostedCluster, reader: Reader): [string | undefined, string] {
  const template = reader.get<Templated>(Deployment, namesOf(name).apiServer)?.spec?.template;
  return [template?.metadata?.annotations?.[versionAnnotation], spec.version];
}

function ofEtcd({ name, spec }: HostedCluster, reader: Reader): [string | undefined, string] {
  const containers = reader.get<Templated>(StatefulSet, namesOf(name).etcd)?.spec?.template?.spec?.containers ?? [];
  const image = containers.find((container) => container.name === 'etcd')?.image;
  return [etcdVersionIn(tagOf(image)), etcdVersion(spec)];
}

function minorIn(version: string | undefined): string | undefined {
  const parsed = version === undefined ? undefined : parseVersion(version);
  return parsed && `${parsed.major}.${parsed.minor}`;
}
