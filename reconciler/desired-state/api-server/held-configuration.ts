import { Deployment } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import {
  checkedAnnotation,
  checkedConfiguration,
} from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { adoptsConfiguration } from './adopts-configuration.ts';
import { checkPodOf, checksConfiguration, checkResultOf } from './check-pod.ts';
import type { ConfigurationCheckResult } from './check-result.ts';

/**
 * Whether API servers may read the configuration of this spec: it has nothing to check, or has been accepted.
 * @param isSkipped whether a user accepts any result
 */
export function isAccepted(cluster: HostedCluster, reader: Pick<Reader, 'get'>, isSkipped = false): boolean {
  if (isApplied(cluster, reader)) return true;
  const result = checkResultFor(cluster, reader);
  return result?.kind === 'accepted' || (isSkipped && result !== undefined);
}

/** What a kube-apiserver has said of the configuration of this spec; undefined until it has. */
export function checkResultFor(
  cluster: HostedCluster,
  reader: Pick<Reader, 'get'>,
): ConfigurationCheckResult | undefined {
  const pod = checkPodOf(reader, cluster.name);
  return pod && checksConfiguration(pod, checkedConfiguration(cluster)) ? checkResultOf(pod) : undefined;
}

/** Whether the Deployment of the API servers shows that they accept it, or there is nothing to check. */
export function isApplied(cluster: HostedCluster, reader: Pick<Reader, 'get'>): boolean {
  const configuration = checkedConfiguration(cluster);
  if (configuration === undefined) return true;
  const deployment = reader.get(Deployment, namesOf(cluster.name).apiServer);
  const recorded = deployment?.metadata.annotations?.[checkedAnnotation];
  return recorded === undefined ? adoptsConfiguration(cluster, deployment) : recorded === configuration;
}

/**
 * Whether to reconcile the last accepted spec while a kube-apiserver checks the newest one, or has refused it. If the last
 * accepted one was never checked either, no API server runs by it: then the newest one is reconciled, and only the API
 * servers wait.
 */
export function holdsNewest(
  newest: HostedCluster,
  last: HostedCluster,
  reader: Pick<Reader, 'get'>,
  isSkipped: boolean,
): boolean {
  return !isAccepted(newest, reader, isSkipped) && isAccepted(last, reader);
}
