import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { kept, lastUsable, nextRevision, recordedRevisions } from '../revision/revisions.ts';
import { phase } from './scope.ts';

/**
 * The record of the spec that all phases reconcile. While the newest spec is refused, that is the last accepted one: its
 * certificates, etcd and backups need the operator, whatever was written last. After a spec that has failed it is the last one
 * with which the control plane has served.
 */
export const acceptedSpec = phase({
  condition: 'SpecAccepted',
  needs: [],
  async run({ candidate, cluster, facts, hostedControlPlane, reader, refusal, writer }): Promise<Outcome> {
    const recorded = recordedRevisions(reader, cluster.name);
    const usable = lastUsable(recorded);
    const present = { revision: usable, revisions: kept(recorded) };
    if (refusal?.reason === 'RevisionFailed') {
      const until = 'until you correct the spec, or change rollout.after to try it again';
      const message = `${refusal.message}: ${until}, the operator reconciles the last spec with which the control plane has served, which is that of generation ${usable?.generation}`;
      return degraded(refusal.reason, message, present);
    }
    if (refusal !== undefined) {
      const message = `${refusal.message}: until you correct it, ${meanwhile(usable?.generation)}`;
      return degraded(refusal.reason, message, present);
    }
    if (candidate !== undefined) {
      const checking = 'the condition APIServerConfigurationAccepted says whether kube-apiserver accepts the spec';
      return degraded('CheckingConfiguration', `${checking}: ${meanwhile(usable?.generation)}`, present);
    }
    const revision = nextRevision(recorded.newest, hostedControlPlane);
    const revisions = kept({ newest: revision, served: revision.hasServed ? undefined : recorded.served });
    await writer.apply(renderControlPlane(cluster, { ...facts, revisions }, 'revision'));
    return done({ revision, revisions });
  },
});

function meanwhile(generation: number | undefined): string {
  return `the operator reconciles the last accepted spec, which is that of generation ${generation}`;
}
