import { controlPlaneChart } from './charts.ts';
import { hasNewest } from '../desired-state/desired-state.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { noting } from '../engine/refusals.ts';
import { adoptionFailed } from '../desired-state/revision/adoption-waves.ts';
import { type RecordedRevisions, reported } from '../desired-state/revision/believed.ts';
import { failsByRelease, kept, lastUsable, nextRevision } from '../desired-state/revision/revisions.ts';
import { phase } from './scope.ts';

/**
 * The record of the spec that all phases reconcile, and of the release by which they render it. While the newest spec is refused,
 * that is the last accepted one: its certificates, etcd and backups need the operator, whatever was written last. After a spec, or
 * a release, that has failed it is the last one with which the control plane has served.
 */
export const acceptedSpec = phase({
  condition: 'SpecAccepted',
  needs: [],
  async run(scope): Promise<Outcome> {
    const { cluster, facts, hostedControlPlane, recorded, refusal, release, writer } = scope;
    const usable = lastUsable(recorded);
    const present = { revision: usable, revisions: kept(recorded) };
    // That of what is rendered: a version that waits keeps the release it has.
    const releaseRevision = (cluster.release ?? release.release).revision;
    const report = { releaseRevision, revisions: reported(present.revisions) };
    if (refusal?.reason === 'RevisionFailed') {
      const reason = failsByRelease(recorded) ? adoptionFailed : refusal.reason;
      return degraded(reason, `${refusal.message}: ${untilCorrected(recorded)}`, { facts: present, report });
    }
    if (refusal !== undefined) {
      const message = `${refusal.message}: until you correct it, ${meanwhile(usable?.generation)}`;
      return degraded(refusal.reason, message, { facts: present, report });
    }
    if (!hasNewest(scope)) {
      const checking = 'the condition APIServerConfigurationAccepted says whether kube-apiserver accepts the spec';
      const message = `${checking}: ${meanwhile(usable?.generation)}`;
      return degraded('CheckingConfiguration', message, { facts: present, report });
    }
    const revision = nextRevision(recorded.newest, hostedControlPlane, release.release);
    const revisions = kept({ newest: revision, served: revision.hasServed ? undefined : recorded.served });
    const { again, pending, isDue } = release;
    let isRefused = false;
    const onRefused = noting(scope, () => (isRefused = true));
    await writer.apply(controlPlaneChart(cluster, { ...facts, revisions }, 'revision'), { onRefused });
    // What is recorded stays, as the only spec to which anything can go back.
    if (isRefused) return done(present, again, { report });
    return done({ revision, revisions }, again, {
      reason: isDue ? 'AdoptionDue' : undefined,
      message: pending,
      report: { releaseRevision, revisions: reported(revisions) },
    });
  },
});

function meanwhile(generation: number | undefined): string {
  return `the operator reconciles the last accepted spec, which has generation ${generation}`;
}

function untilCorrected(recorded: RecordedRevisions): string {
  const { newest, served } = recorded;
  if (newest && served && failsByRelease(recorded)) {
    const [failed, before] = [newest, served].map(({ release }) => release.revision);
    return `the control plane does not become ready by release revision ${failed}: until you change rollout.after to try it again, or the spec, the operator renders it by revision ${before}`;
  }
  return `until you correct the spec, or change rollout.after to try it again, the operator reconciles the last spec with which the control plane has served, which has generation ${served?.generation}`;
}
