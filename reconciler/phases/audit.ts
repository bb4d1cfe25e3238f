import { randomBytes } from 'node:crypto';
import { auditTargets } from '../../constructs/control-plane/api-server/audit/targets.ts';
import { auditSecret, deleteAuditSecret, needsAuditSecret } from './audit/audit-secret.ts';
import { degraded, done, notRequested, type Outcome, wait } from '../engine/outcome.ts';
import { recheckMs } from '../clusters/management/users-objects.ts';
import { phase } from './scope.ts';

/**
 * The tokens of audit receivers, in the Secret that API servers mount. A token that changes reaches them without a
 * restart. While one cannot be read, the one before stays in use; a new receiver waits for its token.
 */
export const audit = phase({
  condition: 'AuditReady',
  needs: [],
  async run(scope): Promise<Outcome> {
    const targets = auditTargets(scope.cluster);
    if (!needsAuditSecret(targets)) {
      await deleteAuditSecret(scope);
      return notRequested();
    }
    const { secret, problems } = await auditSecret(scope, (name) => scope.storeReader.secret(name), createToken);
    if (!secret) return wait('AuditSecretInvalid', problems.join('; '), { afterMs: recheckMs });
    await scope.writer.apply([secret], { onRefused: scope.onRefused });
    const requeueAt = new Date(scope.now.getTime() + recheckMs);
    if (problems.length > 0) return degraded('AuditSecretInvalid', problems.join('; '), { requeueAt });
    return done();
  },
});

function createToken(): string {
  return randomBytes(32).toString('base64url');
}
