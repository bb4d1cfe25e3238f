import { minorOf, parseVersion } from '../../constructs/cluster/versions.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { versionAnnotation } from '../../constructs/pod/component.ts';
import { isReady, type PodObject } from '../kube/readiness.ts';
import { underTopology } from '../../constructs/api/kubernetes-version.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import type { Facts, RevisionFacts } from '../../constructs/cluster/facts.ts';
import type { PhaseResult } from '../engine/run-phases.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { kept, type RecordedRevisions, recordedRevisions } from './revisions.ts';

type OutcomeScope = ControlPlaneContext & { readonly facts: Facts };

/** What must be ready for a control plane to serve. */
const components = ['APIServerDeploymentsReady', 'ControllerManagerReady', 'SchedulerReady'];

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
  const { served } = recordedRevisions(reader, cluster.name);
  const record = async (outcome: Pick<RevisionFacts, 'hasServed' | 'failure'>) => {
    const revisions = kept({ newest: { ...revision, ...outcome }, served: outcome.hasServed ? undefined : served });
    await writer.apply(renderControlPlane(cluster, { ...facts, revisions }, 'revision'));
  };
  // A version that is held back is not that of the revision.
  const isRendered = cluster.spec.version === hostedControlPlane.spec.version;
  if (isRendered && components.every((type) => isDone(results, type))) {
    await record({ hasServed: true });
    return false;
  }
  if (facts.rolloutFailure === undefined || !mayGoBack(scope, { newest: revision, served })) return false;
  const way = changesMinor(revision, served) ? `; ${underTopology}` : '';
  await record({ failure: `${facts.rolloutFailure}${way}` });
  return true;
}

function isDone(results: readonly PhaseResult[], type: string): boolean {
  return results.some(({ phase, isDone: isOver }) => phase.condition === type && isOver);
}

/** API servers of a minor may write what those of the minor before cannot read, once none of these serves any more. */
function mayGoBack({ cluster, reader }: OutcomeScope, { newest, served }: RecordedRevisions): boolean {
  if (served === undefined || newest === undefined || served.number >= newest.number) return false;
  if (!changesMinor(newest, served)) return true;
  const serving = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server')).filter(isReady);
  return serving.some(
    ({ metadata }) => parseVersion(metadata.annotations?.[versionAnnotation] ?? '')?.minor === minorIn(served),
  );
}

function changesMinor(newest: RevisionFacts, served: RevisionFacts | undefined): boolean {
  return served !== undefined && minorIn(newest) !== minorIn(served);
}

function minorIn({ spec }: RevisionFacts): number {
  return minorOf((JSON.parse(spec) as { readonly version: string }).version);
}
