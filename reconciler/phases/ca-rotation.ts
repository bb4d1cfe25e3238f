import { planCAs } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { heldByClock } from '../engine/clock-wrong.ts';
import { earliest } from '../engine/requeue.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { splitCertificates } from '../pki/pem.ts';
import { rotate } from '../certificates/ca/rotate-ca.ts';
import { type RotatedCA, readCA } from '../certificates/ca/rotated-ca.ts';
import { phase } from './scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';

/**
 * Replaces CAs: first trust in the new CA is distributed, then the new CA signs, then trust in the old CA is removed.
 * No other phase waits for it, and it waits only for the rollouts that it needs. Other conditions report other
 * problems.
 */
export const caRotation = phase({
  condition: 'CARotationReady',
  needs: [etcdCertificates, certificates, kubeconfig],
  async run(scope): Promise<Outcome> {
    const caCertificates = planCAs(scope.cluster.name).flatMap((plan) => readCA(scope, plan) ?? []);

    const held = heldByClock(scope, 'a rotation of a CA waits');
    if (held) return caCertificates.some(isBeingRotated) ? held : done();
    const progress = await Promise.all(caCertificates.map((ca) => rotate(scope, ca)));

    const requeueAt = earliest(progress.map((one) => one.requeueAt));
    const inProgress = progress.flatMap((one) => one.inProgress ?? []);
    const [first] = inProgress;
    if (!first) return done({}, requeueAt);
    return degraded(first.reason, inProgress.map(({ message }) => message).join('; '), { requeueAt });
  },
});

function isBeingRotated({ next, pair }: RotatedCA): boolean {
  return next !== undefined || splitCertificates(pair.certificate).length > 1;
}
