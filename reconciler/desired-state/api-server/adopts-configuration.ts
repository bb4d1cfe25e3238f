import type { DeploymentObject } from '../../../imports/kubernetes.ts';
import type { HostedCluster } from '../../../constructs/cluster/cluster.ts';
import { binariesVersion } from '../../../constructs/cluster/emulation.ts';
import { namedIssuers } from '../../../constructs/cluster/service-account-issuer.ts';
import { imageReference, kubernetesImage } from '../../../constructs/cluster/versions.ts';
import { checkedFiles } from '../../../constructs/control-plane/api-server/checked-configuration.ts';
import { apiServerFlags } from '../../../constructs/control-plane/api-server/flags.ts';
import { mergeFlags } from '../../../constructs/pod/flags.ts';
import { deploymentReadiness } from '../../kube/readiness.ts';
import { apiServerArguments, apiServerImage } from '../../clusters/pods/api-server-arguments.ts';

/**
 * Whether every API server runs with the image and the flags that this spec asks for, although no check is recorded: an
 * earlier release has started them. They have accepted their flags, so that an upgrade of the operator waits for no check.
 * Earlier releases wrote no files that are checked, and no issuers of the spec.
 */
export function adoptsConfiguration(cluster: HostedCluster, deployment: DeploymentObject | undefined): boolean {
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
