import { clusterNameLabel } from '../../constructs/api/group.ts';
import { parseHostedControlPlane } from '../../constructs/api/parse.ts';
import type { HostedControlPlane as ParsedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { HostedControlPlane } from '../../constructs/api/resources.ts';
import { owningCluster } from '../management/cluster-object.ts';
import type { KubeObject } from '../kube/object.ts';
import type { Session } from './command.ts';

/** The control plane of a command, as it was when it was read. */
export interface ControlPlane {
  /** Name of the Cluster. */
  readonly cluster: string;
  readonly object: ParsedControlPlane;
}

/**
 * The control plane of the Cluster of this name, or of this name itself: in a managed topology people know only the first.
 * @throws with what there is instead
 */
export async function findControlPlane({ client, namespace }: Session, name: string): Promise<ControlPlane> {
  const { items } = await client.list(HostedControlPlane, { namespace });
  const object = chosen(items, name);
  if (!object) {
    const names = items.map((item) => clusterOf(item) ?? item.metadata.name).sort();
    const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
    throw new Error(
      `no HostedControlPlane of a Cluster "${name}" in namespace ${namespace}, ${there}: choose another namespace by -n`,
    );
  }
  return readControlPlane(object);
}

/** Reads a control plane. @throws when its spec cannot be read, or no Cluster owns it */
export function readControlPlane(object: KubeObject): ControlPlane {
  const cluster = clusterOf(object);
  const { name } = object.metadata;
  if (cluster === undefined) throw new Error(`HostedControlPlane ${name} belongs to no Cluster yet`);
  const parsed = parseHostedControlPlane(object);
  if (!parsed.valid) throw new Error(`HostedControlPlane ${name} cannot be read: ${parsed.message}`);
  return { cluster, object: parsed.hostedControlPlane };
}

function chosen(items: readonly KubeObject[], name: string): KubeObject | undefined {
  return items.find((item) => clusterOf(item) === name) ?? items.find(({ metadata }) => metadata.name === name);
}

function clusterOf({ metadata }: KubeObject): string | undefined {
  return owningCluster(metadata) ?? metadata.labels?.[clusterNameLabel];
}

/** @throws when the control plane is going away, and nothing can be asked of it any more */
export function refuseDeleting({ cluster, object }: ControlPlane): void {
  if (object.metadata.deletionTimestamp !== undefined) {
    throw new Error(`the control plane of ${cluster} is being deleted: nothing more is done for it`);
  }
}
