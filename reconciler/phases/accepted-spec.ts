import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { newestRevision, nextRevision } from '../revision/revisions.ts';
import { phase } from './scope.ts';

/**
 * The record of the spec that all phases reconcile. While the newest spec is refused, that is the last accepted one: its
 * certificates, etcd and backups need the operator, whatever was written last.
 */
export const acceptedSpec = phase({
  condition: 'SpecAccepted',
  needs: [],
  async run({ candidate, cluster, facts, hostedControlPlane, reader, refusal, writer }): Promise<Outcome> {
    const newest = newestRevision(reader, cluster.name);
    if (refusal !== undefined) {
      return degraded('InvalidConfiguration', `${refusal}: until you correct it, ${meanwhile(newest?.generation)}`, {
        revision: newest,
      });
    }
    if (candidate !== undefined) {
      const checking = 'the condition APIServerConfigurationAccepted says whether kube-apiserver accepts the spec';
      return degraded('CheckingConfiguration', `${checking}: ${meanwhile(newest?.generation)}`, { revision: newest });
    }
    const revision = nextRevision(newest, hostedControlPlane);
    await writer.apply(renderControlPlane(cluster, { ...facts, revision }, 'revision'));
    return done({ revision });
  },
});

function meanwhile(generation: number | undefined): string {
  return `the operator reconciles the last accepted spec, which is that of generation ${generation}`;
}
