import {
  Cluster,
  Gateway,
  HostedControlPlaneComponentTemplate,
  type Resource,
} from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { clusterOf } from '../control-plane.ts';

/** The objects that a HostedControlPlane is rendered with. @throws when no Cluster owns it */
export async function surroundings({ client }: Session, live: KubeObject): Promise<KubeObject[]> {
  const { namespace = '' } = live.metadata;
  const cluster = clusterOf(live);
  if (cluster === undefined)
    throw new Error(`no Cluster owns HostedControlPlane ${live.metadata.name} yet: hcp render shows what it becomes`);
  const owner = await client.get(Cluster, { namespace, name: cluster });
  // A kind that is not installed, or that this user may not read, is only missing.
  const listed = (resource: Resource, where: { namespace?: string }) =>
    client.list(resource, where).then(
      ({ items }) => items,
      () => [],
    );
  const [templates, gateways] = await Promise.all([
    listed(HostedControlPlaneComponentTemplate, { namespace }),
    listed(Gateway, {}),
  ]);
  return [owner, ...templates, ...gateways];
}

/** The operator writes the endpoint, and it is none of the examples with which a file is rendered. */
export function withoutEndpoint(object: KubeObject & { readonly spec?: object }): KubeObject {
  return { ...object, spec: { ...object.spec, controlPlaneEndpoint: undefined } } as KubeObject;
}
