import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import {
  Cluster,
  Gateway,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
} from '../../../constructs/api/resources.ts';
import { readSample, type Sample } from '../../../constructs/sample.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { CommandAccess } from '../access.ts';
import type { Session } from '../command.ts';
import { clusterOf } from '../control-plane.ts';

/** What this needs in the namespace of the control plane. */
export const readingSample: readonly CommandAccess[] = [
  { resource: Cluster, verbs: ['get'], why: 'the networks, by which the control plane is rendered' },
  { resource: HostedControlPlaneComponentTemplate, verbs: ['get'], why: 'the settings that it shares with others' },
];

/**
 * A HostedControlPlane to render with examples in the place of what only the operator knows, such as addresses and certificates.
 * @throws when no Cluster owns it, or its template cannot be read
 */
export async function sampleOf({ client }: Session, object: HostedControlPlaneObject): Promise<Sample> {
  const { namespace = '', name } = object.metadata;
  const cluster = clusterOf(object);
  if (cluster === undefined)
    throw new Error(`no Cluster owns ${HostedControlPlane.kind} ${name} yet: hcp render shows what it becomes`);
  const owner = await client.get(Cluster, { namespace, name: cluster });
  const { componentTemplateRef } = object.spec ?? {};
  const template =
    componentTemplateRef?.name === undefined
      ? undefined
      : await client.find(HostedControlPlaneComponentTemplate, { namespace, name: componentTemplateRef.name });
  return readSample([
    withNetworkOf(object, owner),
    ...(template ? [template] : []),
    ...gatewayOf(object),
    withoutEndpoint(object),
  ]);
}

/** The Cluster with the networks that the control plane was initialized with, by which it is rendered. */
function withNetworkOf({ status }: HostedControlPlaneObject, owner: KubeObject & { readonly spec?: object }): object {
  if (!status?.network) return owner;
  const { serviceDomain, services, pods } = status.network;
  const blocks = (cidrBlocks: readonly string[]) => ({ cidrBlocks });
  return {
    ...owner,
    spec: { ...owner.spec, clusterNetwork: { serviceDomain, services: blocks(services), pods: blocks(pods) } },
  };
}

/** An example of the Gateway that a spec names: users of a control plane often may not read it. */
function gatewayOf({ spec }: HostedControlPlaneObject): object[] {
  if (!spec?.gateway) return [];
  const { apiVersion, kind } = Gateway;
  const { namespace, name } = spec.gateway;
  const listener = {
    name: 'tls',
    protocol: 'TLS',
    port: 443,
    hostname: '*.example.com',
    tls: { mode: 'Passthrough' },
    allowedRoutes: { namespaces: { from: 'All' } },
  };
  return [{ apiVersion, kind, metadata: { namespace, name }, spec: { listeners: [listener] } }];
}

/** The operator writes the endpoint, and it is none of the examples. */
function withoutEndpoint(object: HostedControlPlaneObject): object {
  return { ...object, spec: { ...object.spec, controlPlaneEndpoint: undefined } };
}
