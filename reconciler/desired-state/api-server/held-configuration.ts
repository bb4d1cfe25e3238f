import type { DeploymentObject } from '../../../imports/kubernetes.ts';
import { Deployment } from '../../../constructs/api/resources.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { binariesVersion } from '../../../constructs/cluster/emulation.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { namedIssuers } from '../../../constructs/cluster/service-account-issuer.ts';
import { imageReference, kubernetesImage } from '../../../constructs/cluster/versions.ts';
import {
  checkedAnnotation,
  checkedConfiguration,
  checkedFiles,
} from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import { mergeFlags } from '../../../constructs/pod/flags.ts';
import type { Reader } from '../../clusters/management/view.ts';
import { apiServerArguments, apiServerImage } from '../../clusters/pods/api-server-arguments.ts';
import { deploymentReadiness } from '../../kube/readiness.ts';
import { checkPodOf, checksConfiguration, checkResultOf, type ConfigurationCheckResult } from './check-pod.ts';

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

/**
 * Whether every API server runs with the image and the flags that this spec asks for, although no check is recorded: an
 * earlier release has started them. They have accepted their flags, so that an upgrade of the operator waits for no check.
 * Earlier releases wrote no files that are checked, and no issuers of the spec.
 */
function adoptsConfiguration(cluster: HostedCluster, deployment: DeploymentObject | undefined): boolean {
  const { spec } = cluster;
  const { image, args = {} } = spec.deployment.apiServer;
  if (!deploymentReadiness(deployment).ready) return false;
  if (checkedFiles(cluster).length > 0 || namedIssuers(cluster).length > 0) return false;
  const wanted = imageReference(spec, kubernetesImage('kube-apiserver', binariesVersion(cluster)), image);
  const running = apiServerArguments(deployment) ?? {};
  const facts = { advertiseAddress: running['advertise-address'] };
  const flags = mergeFlags(apiServerFlags(cluster, unknown, facts), args);
  return apiServerImage(deployment) === wanted && Object.keys(args).every((name) => flags[name] === running[name]);
}

/** No flag of a user depends on it. */
const unknown = { host: '', port: 0 };
