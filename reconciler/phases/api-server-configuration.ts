import type { PodObject } from '../../imports/kubernetes.ts';
import { Pod } from '../../constructs/api/resources.ts';
import { managementIssuerProblem } from '../../constructs/cluster/management-issuer.ts';
import { renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { checkedConfiguration } from '../../constructs/control-plane/api-server/checked-configuration.ts';
import { conflictingIssuer } from '../../constructs/cluster/service-account-issuer.ts';
import type { ConditionReason } from '../../constructs/api/conditions.ts';
import { refusalKeptMs } from '../clusters/management/view.ts';
import { recheckMs } from '../clusters/management/users-objects.ts';
import { checkPodOf, checksConfiguration, checkResultOf } from '../desired-state/api-server/check-pod.ts';
import { isAccepted, isApplied } from '../desired-state/api-server/held-configuration.ts';
import { observeIssuers, recordIssuer } from '../certificates/service-account-issuer.ts';
import { degraded, done, type Outcome, wait } from '../engine/outcome.ts';
import { podProblemOf } from '../clusters/pods/wait-for-pods.ts';
import { configurationProblem, skipsConfiguration } from '../desired-state/upgrade/preflight/configuration.ts';
import { acceptedSpec } from './accepted-spec.ts';
import { certificates, etcdCertificates } from './certificates.ts';
import { phase, type Scope } from './scope.ts';

/**
 * Has the version's own kube-apiserver check flags and files before a running API server reads them. The pod that checks is
 * the record of the result: without it the check is repeated. While a newer spec is checked or refused, this reconcile has the
 * last accepted one, and later phases go on with it.
 *
 * It determines the issuers of service account tokens, because no token issuer can be one of them.
 */
export const apiServerConfiguration = phase({
  condition: 'APIServerConfigurationAccepted',
  needs: [acceptedSpec, certificates, etcdCertificates],
  establishes: ['serviceAccountIssuers'],
  async run(before): Promise<Outcome<'serviceAccountIssuers'>> {
    const { endpoint } = before.facts;
    const serviceAccountIssuers = observeIssuers(before, before.cluster, endpoint);
    await recordIssuer(before, serviceAccountIssuers[0]);
    const scope = { ...before, facts: { ...before.facts, serviceAccountIssuers } };
    const { managementIssuer, onRefused, reader, writer } = scope;
    const { requested: asked } = scope;
    const askedIssuers = observeIssuers(scope, asked, endpoint);
    const problem =
      managementIssuerProblem(asked, managementIssuer, askedIssuers) ?? conflictingIssuer(asked, askedIssuers);
    if (problem !== undefined) return hold(scope, 'ConfigurationRefused', problem);
    const configuration = checkedConfiguration(asked);
    const pod = checkPodOf(reader, asked.name);
    if (isAccepted(asked, reader, skipsConfiguration(scope))) {
      // Until then the pod is the only record.
      if (pod && isApplied(asked, reader)) await remove(scope, pod);
      const skipped = configurationProblem(scope);
      return skipped === undefined
        ? done({ serviceAccountIssuers })
        : degraded('ConfigurationRefused', `${skipped}; an annotation skips this check`, {
            facts: { serviceAccountIssuers },
          });
    }
    const checking = `kube-apiserver ${asked.spec.version} checks flags, token issuers and audit settings`;
    if (!pod) {
      const facts = { ...scope.facts, serviceAccountIssuers: askedIssuers, apiServerCheck: asked.spec };
      const objects = renderControlPlane(asked, facts, 'api-server-check');
      const creates = objects.filter(({ kind }) => kind === Pod.kind);
      const refusal = await writer.dryRun({ step: 'api-server-check', creates, changes: [Pod], ends: [] });
      if (refusal !== undefined) {
        const message = `what the spec asks for of API servers is not checked, and not applied: ${refusal}`;
        return hold(scope, 'CheckRefused', message, refusalKeptMs);
      }
      await writer.apply(objects, { onRefused });
      return hold(scope, 'CheckingConfiguration', checking);
    }
    if (!checksConfiguration(pod, configuration)) {
      await remove(scope, pod);
      return hold(scope, 'CheckingConfiguration', checking);
    }
    const result = checkResultOf(pod);
    if (result?.kind === 'refused') {
      return hold(scope, 'ConfigurationRefused', `kube-apiserver ${asked.spec.version} refuses it: ${result.message}`);
    }
    if (result?.kind === 'unknown') return tryAgain(scope, pod, result.message);
    const { podProblem, afterMs } = await podProblemOf('api-server-check', scope);
    const reason = podProblem?.reason === 'PodsFailing' ? 'PodsFailing' : 'CheckingConfiguration';
    return hold(scope, reason, podProblem ? `${checking}; ${podProblem.message}` : checking, afterMs);
  },
});

/**
 * Later phases go on with the last accepted spec. Without one, the API servers wait.
 * @param afterMs when to reconcile again; unset if an event triggers that
 */
function hold(
  scope: Scope<'serviceAccountIssuers'>,
  reason: ConditionReason<'APIServerConfigurationAccepted'>,
  message: string,
  afterMs?: number,
): Outcome<'serviceAccountIssuers'> {
  const { serviceAccountIssuers } = scope.facts;
  const facts = { serviceAccountIssuers, apiServerCheck: scope.requested.spec };
  if (!isAccepted(scope.cluster, scope.reader)) return wait(reason, message, { facts, afterMs });
  const requeueAt = afterMs === undefined ? undefined : new Date(scope.now.getTime() + afterMs);
  return degraded(reason, `${message}; API servers keep what they accepted last`, { facts, requeueAt });
}

/** Nothing was found out. */
async function tryAgain(
  scope: Scope<'serviceAccountIssuers'>,
  pod: PodObject,
  cause: string,
): Promise<Outcome<'serviceAccountIssuers'>> {
  const ageMs = scope.now.getTime() - Date.parse(pod.metadata.creationTimestamp ?? '');
  if (ageMs >= recheckMs) await remove(scope, pod);
  const message = `the check of flags, token issuers and audit settings did not end: ${cause}: the operator tries again`;
  return hold(scope, 'PodsFailing', message, Math.max(recheckMs - ageMs, 1000));
}

async function remove({ writer }: Pick<Scope, 'writer'>, pod: PodObject): Promise<void> {
  if (!pod.metadata.deletionTimestamp) await writer.delete(Pod, pod);
}
