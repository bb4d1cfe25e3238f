import type { PodObject } from '../../../imports/kubernetes.ts';
import type { ConditionType } from '../../../constructs/api/conditions.ts';
import { parseVersion } from '../../../constructs/cluster/versions.ts';
import { Pod } from '../../../constructs/api/resources.ts';
import { selectorLabels } from '../../../constructs/cluster/labels.ts';
import { versionAnnotation } from '../../../constructs/pod/component.ts';
import { isReady } from '../../kube/readiness.ts';
import { underTopology } from '../../../constructs/api/kubernetes-version.ts';
import type { Facts, RevisionFacts } from '../../../constructs/cluster/facts.ts';
import type { PhaseResult } from '../../engine/run-phases.ts';
import type { ControlPlaneContext } from '../../clusters/management/view.ts';
import type { RecordedRevisions } from './believed.ts';
import { minorIn, versionIn } from './revisions.ts';

/** What became of the newest revision, for the status. */
export interface RevisionOutcome {
  /** The records that the next reconcile believes; undefined to leave them as they are. */
  readonly revisions?: readonly RevisionFacts[];
  /** Whether the next reconcile goes back to the last one that served, which it does at once. */
  readonly goesBack: boolean;
}

type OutcomeScope = Pick<ControlPlaneContext, 'cluster' | 'hostedControlPlane' | 'reader'> & {
  readonly recorded: RecordedRevisions;
  readonly facts: Facts;
};

/** What must be ready for a control plane to serve. */
const components: readonly ConditionType[] = ['APIServerDeploymentsReady', 'ControllerManagerReady', 'SchedulerReady'];

/**
 * What became of the newest revision, which this reconcile has: the control plane serves by it, or a component has not become
 * ready by it in time. In the second case the next reconcile goes back to the last one that served.
 * @param scope with the facts of all phases
 */
export function outcomeOf(scope: OutcomeScope, results: readonly PhaseResult[]): RevisionOutcome {
  const { cluster, facts, hostedControlPlane } = scope;
  const { revision } = facts;
  if (revision === undefined || revision.hasServed) return { goesBack: false };
  const ofComponents = results.filter(({ phase }) => components.includes(phase.condition));
  // A version that is held back is not that of the revision.
  const isRendered = cluster.spec.version === hostedControlPlane.spec.version;
  if (isRendered && ofComponents.every(({ update }) => update.status === 'True'))
    return { revisions: [{ ...revision, hasServed: true }], goesBack: false };
  const { served } = scope.recorded;
  const stuck = ofComponents.find(({ isStuck }) => isStuck);
  if (stuck === undefined || served === undefined || !mayGoBack(scope, revision, served)) return { goesBack: false };
  const way = versionIn(revision.spec) === versionIn(served.spec) ? '' : `; ${underTopology}`;
  return { revisions: [{ ...revision, failure: `${stuck.update.message}${way}` }, served], goesBack: true };
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
