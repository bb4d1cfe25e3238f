import type { HostedControlPlaneObject } from '../../clusters/management/hosted-control-plane-object.ts';
import {
  Cluster,
  ConfigMap,
  Gateway,
  HostedControlPlane,
  HostedControlPlaneComponentTemplate,
} from '../../../constructs/api/resources.ts';
import { selectorString } from '../../../constructs/cluster/labels.ts';
import { newestRevision, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { documentsIn } from '../../../constructs/rendered-file.ts';
import { readSample, type Sample } from '../../../constructs/sample.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { lastUsable, revisionsAmong } from '../../desired-state/revision/revisions.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { CommandAccess } from '../access.ts';
import type { Session } from '../command.ts';
import { clusterOf } from '../../clusters/management/owning-cluster.ts';
import { findObject } from '../control-plane.ts';
import { readFile } from '../read-file.ts';
import { type Comparison, type ObjectChange, objectChanges, specChanges } from './effects.ts';
import { ownersOf } from './field-owners.ts';

/** What this needs in the namespace of the control plane. */
export const readingSample: readonly CommandAccess[] = [
  { resource: Cluster, verbs: ['get'], why: 'the networks, by which the control plane is rendered' },
  { resource: HostedControlPlaneComponentTemplate, verbs: ['get'], why: 'the settings that it shares with others' },
];

/**
 * A control plane with a file that is not applied yet. The API server computes the new object without storing it.
 * @throws with its message when it refuses the file
 */
export async function compareFile(session: Session, path: string, fieldManager: string): Promise<Comparison> {
  const { client, namespace } = session;
  const wanted = controlPlaneIn(path);
  const metadata = { ...wanted.metadata, namespace: wanted.metadata.namespace ?? namespace };
  const name = { namespace: metadata.namespace, name: metadata.name };
  const live = await client.find(HostedControlPlane, name);
  if (!live)
    throw new Error(
      `HostedControlPlane ${name.name} does not exist in namespace ${name.namespace}: hcp render shows what it becomes`,
    );
  const changed = await client.apply({ ...wanted, metadata }, { fieldManager, force: true, dryRun: true });
  const before = await sampleOf(session, live);
  // the file may lack the owner, by which the Cluster is found
  const after = await sampleOf(session, { ...changed, metadata: live.metadata });
  const spec = specChanges(before.cluster.spec, after.cluster.spec).map((change) => ({
    ...change,
    setBy: ownersOf(live, `spec.${change.path}`),
  }));
  return { cluster: before.cluster.name, spec, objects: renderedChanges(before, after) };
}

/** @throws when there is not exactly one */
function controlPlaneIn(path: string): KubeObject {
  const found = (documentsIn(readFile(path)) as KubeObject[]).filter(({ kind }) => kind === HostedControlPlane.kind);
  const [object] = found;
  if (!object || found.length > 1)
    throw new Error(`${path} has ${found.length} HostedControlPlanes: set a file with one`);
  return object;
}

/**
 * A control plane by the release that the operator has recorded for it, with the same by another release revision: what its adoption
 * would change.
 * @throws when this program does not know the recorded release revision
 */
export async function compareRelease(session: Session, name: string, revision: number): Promise<Comparison> {
  const object: KubeObject = await findObject(session, name);
  const sample = await sampleOf(session, object);
  const { cluster } = sample;
  const { items } = await session.client.list(ConfigMap, {
    namespace: cluster.namespace,
    labelSelector: selectorString(cluster.name, 'revision'),
  });
  const recorded = lastUsable(revisionsAmong(items, object, cluster.name))?.release;
  if (!recorded) throw new Error(`the operator has recorded no release for ${cluster.name} yet: does it run?`);
  if (recorded.revision > newestRevision)
    throw new Error(
      `${cluster.name} has release revision ${recorded.revision}, and this hcp knows revisions up to ${newestRevision}: use the hcp of the operator's release`,
    );
  const by = (release: typeof recorded): Sample => ({ ...sample, cluster: { ...cluster, release } });
  const asked = revision === recorded.revision ? recorded : releaseOf(minorOf(cluster.spec.version), revision);
  return { cluster: cluster.name, spec: [], objects: renderedChanges(by(recorded), by(asked)) };
}

/** The differences between what two control planes with the same examples are rendered to, in both clusters. */
function renderedChanges(before: Sample, after: Sample): ObjectChange[] {
  const [one, other] = [before, after].map(({ cluster, facts }) => ({
    management: renderControlPlane(cluster, facts),
    hosted: renderWorkload(cluster, facts),
  }));
  return (['management', 'hosted'] as const).flatMap((place) =>
    objectChanges(one?.[place] ?? [], other?.[place] ?? [], place),
  );
}

/**
 * A HostedControlPlane to render with examples in the place of what only the operator knows, such as addresses and certificates.
 * @throws when no Cluster owns it, or its template cannot be read
 */
async function sampleOf({ client }: Session, object: HostedControlPlaneObject): Promise<Sample> {
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
