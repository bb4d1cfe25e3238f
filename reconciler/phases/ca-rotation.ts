import { planCAs } from '../../constructs/control-plane/certificates/plan.ts';
import { earliest } from '../engine/requeue.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { rotate } from '../rotation/ca/execute.ts';
import { readCA } from '../rotation/ca/rotated-ca.ts';
import { phase } from './scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';

/**
 * Replaces authorities: trust in the new one is distributed, then it signs, then trust in the old one is retired. Nobody
 * waits for it, and it waits for no roll-out but those it needs: whatever else is wrong is told elsewhere.
 */
export const caRotation = phase({
  condition: 'CARotationReady',
  needs: [etcdCertificates, certificates, kubeconfig],
  async run(scope): Promise<Outcome> {
    const caCertificates = planCAs(scope.cluster.name).flatMap((plan) => readCA(scope, plan) ?? []);

    const progress = await Promise.all(caCertificates.map((ca) => rotate(scope, ca)));

    const requeueAt = earliest(progress.map((one) => one.requeueAt));
    const inProgress = progress.flatMap((one) => one.inProgress ?? []);
    const [first] = inProgress;
    if (!first) return done({}, requeueAt);
    return degraded(first.reason, inProgress.map(({ message }) => message).join('; '), {}, { requeueAt });
  },
});
