import { StatefulSet } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/control-plane/cluster.ts';
import { namesOf } from '../../constructs/control-plane/names.ts';
import { etcdVersion } from '../../constructs/control-plane/versions.ts';
import type { KubeObject } from '../kube/object.ts';
import type { World } from '../scope.ts';
import type { EtcdObservation } from './members.ts';
import { decideVersion, type VersionVerdict } from './version-rules.ts';

interface Templated extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly name: string; readonly image?: string }[] };
    };
  };
}

export interface VersionOptions {
  readonly world: World;
  /** What was last seen of etcd. */
  readonly observation: EtcdObservation | undefined;
}

/** Which version of etcd to run, by what its members say they run. */
export function versionToRun(cluster: HostedCluster, { world, observation }: VersionOptions): VersionVerdict {
  const members = observation?.members.filter(({ registration }) => registration) ?? [];
  return decideVersion({
    running: members.map(({ status }) => status?.version),
    rendered: renderedVersion(cluster.name, world),
    wanted: etcdVersion(cluster.spec),
    args: cluster.spec.etcd.args,
  });
}

/** The version in the StatefulSet's template; undefined without one, and where the user's image has a tag of its own kind. */
export function renderedVersion(cluster: string, world: World): string | undefined {
  const set = world.get<Templated>(StatefulSet, namesOf(cluster).etcd);
  const image = set?.spec?.template?.spec?.containers?.find(({ name }) => name === 'etcd')?.image ?? '';
  return /:v?(3\.\d+\.\d+)(?:-\d+)?(?:@|$)/.exec(image)?.[1];
}
