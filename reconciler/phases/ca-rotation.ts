import { planAuthorities } from '../../constructs/control-plane/certificates/plan.ts';
import { earliest } from '../engine/requeue.ts';
import { degraded, done, type Outcome } from '../engine/outcome.ts';
import { rotate } from '../rotation/ca/execute.ts';
import { readAuthority } from '../rotation/ca/rotated-ca.ts';
import type { Phase } from './scope.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';

/**
 * Replaces authorities: trust in the new one is distributed, then it signs, then trust in the old one is retired. Nobody
 * waits for it, and it waits for no roll-out but those it needs: whatever else is wrong is told elsewhere.
 */
export const caRotation: Phase = {
  condition: 'CARotationReady',
  needs: [etcdCertificates, certificates, kubeconfig],
  async run(scope): Promise<Outcome> {
    const authorities = planAuthorities(scope.cluster.name).flatMap((plan) => readAuthority(scope, plan) ?? []);

    const progress = await Promise.all(authorities.map((authority) => rotate(scope, authority)));

    const again = earliest(progress.map((one) => one.again));
    const underWay = progress.flatMap((one) => one.underWay ?? []);
    const [first] = underWay;
    if (!first) return done({}, again);
    return degraded(first.reason, underWay.map(({ message }) => message).join('; '), {}, { again });
  },
};
