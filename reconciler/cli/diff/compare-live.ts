import { fieldManager } from '../../../constructs/api/group.ts';
import { CiliumNetworkPolicy, resourceOf, Service } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import { type RenderedObject, renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { readSample, type Sample } from '../../../constructs/sample.ts';
import type { ServiceObject } from '../../kube/service-object.ts';
import type { KubeObject, ObjectMeta } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { clusterOf, findObject } from '../control-plane.ts';
import type { StoredControlPlane } from '../control-plane-state.ts';
import { type Comparison, objectChanges } from './effects.ts';
import { ownersOf } from './field-owners.ts';
import { withOperatorsFacts } from './operators-facts.ts';
import { settled } from './settled.ts';
import { surroundings, withoutEndpoint } from './surroundings.ts';

/** A control plane with what this release renders for it. */
export interface LiveComparison extends Comparison {
  readonly releaseRevision: number;
}

/**
 * The live objects of a control plane with what an operator of this release would apply. The API server computes each without
 * storing it, with its defaults, and without what others own. Values that only the operator knows count as unchanged.
 * @param revision the release revision to render by; the control plane's own when unset
 */
export async function compareLive(
  session: Session,
  name: string,
  revision: number | undefined,
): Promise<LiveComparison> {
  const live: StoredControlPlane = await findObject(session, name);
  const sample = readSample([...(await surroundings(session, live)), withoutEndpoint(live)]);
  const release = releaseOf(minorOf(sample.cluster.spec.version), revision ?? live.status?.releaseRevision);
  const { uid = '', name: owner } = live.metadata;
  const facts = {
    ...sample.facts,
    ...(sample.facts.serviceAddress && sample.facts.advertiseAddress
      ? { advertiseAddress: await serviceIP(session, sample.cluster) }
      : {}),
    ciliumServed: await servesCilium(session),
    owner: { name: owner, uid },
  };
  const changes = await Promise.all(
    expectedObjects({ cluster: { ...sample.cluster, release }, facts }).map((expected) => change(session, expected)),
  );
  return {
    cluster: clusterOf(live) ?? owner,
    releaseRevision: release.revision,
    spec: [],
    objects: changes.flat(),
  };
}

/** An object as the operator applies it, given the live one. */
export interface ExpectedObject {
  readonly name: KubeObject;
  readonly given: (live: KubeObject) => KubeObject;
}

/** What the operator applies, without its facts. */
export function expectedObjects(sample: Sample): ExpectedObject[] {
  const [one, other] = withOperatorsFacts(sample).map(({ cluster, facts }) => renderControlPlane(cluster, facts));
  const others = new Map(other?.map((object) => [keyOf(object), object]));
  return (one ?? []).map((object) => ({
    name: object,
    given: (live) => settled(object, others.get(keyOf(object)), live) as KubeObject,
  }));
}

async function change({ client }: Session, { name, given }: ExpectedObject): Promise<Comparison['objects']> {
  const before = await client.find(resourceOf(name), name.metadata);
  if (!before) return objectChanges([], [name as RenderedObject], 'management');
  const after = await client.apply(given(before), { fieldManager, force: true, dryRun: true });
  return objectChanges([comparable(before)], [comparable(after)], 'management').map((one) => ({
    ...one,
    setBy: [...new Set(one.fields.flatMap(({ path }) => ownersOf(before, path)))].filter((by) => by !== fieldManager),
  }));
}

/** Without what the server writes on each change. */
function comparable({ metadata, ...object }: KubeObject & { readonly status?: unknown }): RenderedObject {
  const { managedFields: _, resourceVersion: __, generation: ___, ...kept } = metadata;
  const { status: ____, ...rest } = object;
  return { ...rest, metadata: kept as ObjectMeta } as RenderedObject;
}

/** The IP address of the API server's load balancer; undefined when it has none. Some settings depend on whether it has one. */
async function serviceIP({ client }: Session, { name, namespace }: HostedCluster): Promise<string | undefined> {
  const service = await client.find<ServiceObject>(Service, { namespace, name: namesOf(name).apiService });
  return service?.status?.loadBalancer?.ingress?.[0]?.ip;
}

/** A kind that is not served, or that this user may not read, is no kind in which policies are written. */
function servesCilium({ client, namespace }: Session): Promise<boolean> {
  return client.list(CiliumNetworkPolicy, { namespace }).then(
    () => true,
    () => false,
  );
}

function keyOf({ kind, metadata }: RenderedObject): string {
  return `${kind}/${metadata.name}`;
}
