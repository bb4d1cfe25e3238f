import { ConfigMap } from '../../../constructs/api/resources.ts';
import { newestRevision, releaseOf } from '../../../constructs/cluster/release-revisions.ts';
import { selectorString } from '../../../constructs/cluster/labels.ts';
import { minorOf } from '../../../constructs/cluster/versions.ts';
import type { Sample } from '../../../constructs/sample.ts';
import { lastUsable, revisionsAmong } from '../../revision/revisions.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { findObject } from '../control-plane.ts';
import type { Comparison } from './effects.ts';
import { renderedChanges } from './rendered-changes.ts';
import { sampleOf } from './live-sample.ts';

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
