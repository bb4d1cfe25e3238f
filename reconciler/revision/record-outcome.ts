import type { ConditionType } from '../../constructs/api/conditions.ts';
import { parseVersion } from '../../constructs/cluster/versions.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { isReady, type PodObject } from '../kube/readiness.ts';
import { underTopology } from '../../constructs/api/kubernetes-version.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import type { Facts, RevisionFacts } from '../../constructs/cluster/facts.ts';
import type { PhaseResult } from '../engine/run-phases.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { minorIn, recordedRevisions, versionIn } from './revisions.ts';

type OutcomeScope = ControlPlaneContext & { readonly facts: Facts };

/** What must be ready for a control plane to serve. */
const components: readonly ConditionType[] = ['APIServerDeploymentsReady', 'ControllerManagerReady', 'SchedulerReady'];

/**
 * Records what became of the newest revision, which this reconcile has: that the control plane serves by it, or that a
 * component has not become ready by it in time. In the second case the next reconcile goes back to the last one that served.
 * @param scope with the facts of all phases
 * @returns whether the next reconcile goes back, which it does at once
 */
export async function recordOutcome(scope: OutcomeScope, results: readonly PhaseResult[]): Promise<boolean> {
  const { cluster, facts, hostedControlPlane, reader, writer } = scope;
  const { revision } = facts;
  if (revision === undefined || revision.hasServed) return false;
  const record = (...revisions: readonly RevisionFacts[]) =>
    writer.apply(renderControlPlane(cluster, { ...facts, revisions }, 'revision'));
  const ofComponents = results.filter(({ phase }) => components.includes(phase.condition));
  // A version that is held back is not that of the revision.
  const isRendered = cluster.spec.version === hostedControlPlane.spec.version;
  if (isRendered && ofComponents.every(({ update }) => update.status === 'True')) {
    await record({ ...revision, hasServed: true });
    return false;
  }
  const { served } = recordedRevisions(reader, cluster.name);
  const stuck = ofComponents.find(({ isStuck }) => isStuck);
  if (stuck === undefined || served === undefined || !mayGoBack(scope, revision, served)) return false;
  const way = versionIn(revision.spec) === versionIn(served.spec) ? '' : `; ${underTopology}`;
  await record({ ...revision, failure: `${stuck.update.message}${way}` }, served);
  return true;
}

/** API servers of a minor may write what those of the minor before cannot read, once none of these serves any more. */
function mayGoBack({ cluster, reader }: OutcomeScope, newest: RevisionFacts, served: RevisionFacts): boolean {
  const before = minorIn(served.spec);
  if (minorIn(newest.spec) === before) return true;
  const serving = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')).filter(isReady);
  return serving.some(
    ({ metadata }) => parseVersion(metadata.annotations?.[versionAnnotation] ?? '')?.minor === before,
  );
}
