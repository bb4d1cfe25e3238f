import type { PodObject } from '../../imports/kubernetes.ts';
import { skipPreflightAnnotation } from '../../constructs/api/group.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { heldBy } from '../desired-state/desired-state.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { HostedClusterNotReady } from '../clusters/hosted/outage.ts';
import { recheckMs } from '../clusters/management/users-objects.ts';
import {
  checksOfHosted,
  findProblems,
  type PreflightInput,
  preflightChecks,
  hasPassed,
  skippedChecks,
} from '../desired-state/upgrade/preflight/checks.ts';
import { configurationProblem, heldByConfiguration } from '../desired-state/upgrade/preflight/configuration.ts';
import { observePreflight, observeWithoutHosted } from '../desired-state/upgrade/preflight/observe-preflight.ts';
import { minorChange } from '../desired-state/upgrade/version-change.ts';
import { certificates } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';
import { phase, type Scope } from './scope.ts';

/**
 * Checks what an upgrade of Kubernetes' minor version may break, before anything of it is done. No other phase waits for it:
 * {@link decideVersion} keeps the version that runs until its success is in the status.
 */
export const upgradePreflight = phase({
  condition: 'UpgradePreflightSucceeded',
  needs: [certificates, kubeconfig],
  async run(scope): Promise<Outcome> {
    const held = heldByConfiguration(scope);
    if (held !== undefined) return degraded(held.reason, held.message);
    const change = minorChange('Kubernetes', scope);
    const { cluster, hostedControlPlane, reader, now } = scope;
    if (change === undefined) return done();
    // The checks are repeated at the end of the hold.
    if (heldBy(scope, 'version', 'HoldingUpgrade')) return done();
    if (hasPassed(hostedControlPlane, now)) return done({}, new Date(now.getTime() + recheckMs));
    const { version } = hostedControlPlane.spec;
    const pods = reader.list<PodObject>(Pod, selectorLabels(cluster.name, 'api-server'));
    const subject = { version, hostedControlPlane, pods, now, configuration: configurationProblem(scope) };
    try {
      return judge(scope, change, await observePreflight(subject, scope.hosted(scope.facts)));
    } catch (error) {
      if (!(error instanceof HostedClusterNotReady)) throw error;
      const { checks } = skippedChecks(hostedControlPlane.metadata);
      // An upgrade may be what makes API servers answer again.
      if (checksOfHosted.every((check) => checks.includes(check))) {
        return judge(scope, change, observeWithoutHosted(subject, error.message));
      }
      const skip = `if no API server will answer, set the annotation ${skipPreflightAnnotation}: ${checksOfHosted.join(',')}`;
      return wait('CheckingUpgrade', `the change of ${change} waits for its checks: ${error.message}; ${skip}`, {
        afterMs: error.afterMs,
      });
    }
  },
});

/** Without a problem that counts, the next reconcile begins the upgrade. */
function judge({ hostedControlPlane, now }: Scope, change: string, observation: PreflightInput): Outcome {
  const { checks, unknown } = skippedChecks(hostedControlPlane.metadata);
  const problems = findProblems(observation);
  const counting = problems.filter(({ check }) => !checks.includes(check));
  const requeueAt = new Date(now.getTime() + recheckMs);
  const [first] = counting;
  if (first) {
    const found = counting.map(({ check, message }) => `${message} (${check})`).join('; ');
    const names =
      unknown.length > 0 ? `; there is no check ${unknown.join(', ')}, only ${preflightChecks.join(', ')}` : '';
    const message = `the change of ${change} is held: ${found}; to skip checks, name them in the annotation ${skipPreflightAnnotation}${names}`;
    return degraded(first.reason, message, { requeueAt });
  }
  const { version } = observation;
  const skipped = problems.map(({ message }) => message.slice(0, 1024));
  const preflight = { version, succeeded: now.toISOString(), ...(skipped.length > 0 ? { skipped } : {}) };
  return done({}, requeueAt, { report: { preflight } });
}
