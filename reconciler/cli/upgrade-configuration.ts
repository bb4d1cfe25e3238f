import { kubernetesVersion } from '../../constructs/cluster/versions.ts';
import { checkedConfiguration } from '../../constructs/control-plane/api-server/checked-configuration.ts';
import type { ControlPlane } from './control-plane.ts';

/** What is known of the kube-apiserver of a version: whether it accepts what users decide about it. */
export interface ConfigurationResult {
  /** `later`: it is asked when the spec has the version. */
  readonly result: 'passed' | 'failed' | 'later';
  readonly message: string;
}

/** The result of the check before an upgrade to a version, which the operator makes once the spec asks for it. */
export function configurationResult({ object }: ControlPlane, version: string): ConfigurationResult {
  const { metadata, spec, status } = object;
  const { namespace } = metadata;
  if (checkedConfiguration({ namespace, spec: { ...spec, version } }) === undefined) {
    return { result: 'passed', message: '' };
  }
  const condition = (type: string) => status?.conditions?.find((candidate) => candidate.type === type);
  if (kubernetesVersion(spec.version) === version && status?.observedGeneration === metadata.generation) {
    const accepted = condition('APIServerConfigurationAccepted');
    if (accepted?.status === 'True') return { result: 'passed', message: '' };
    if (accepted?.reason === 'ConfigurationRefused') return { result: 'failed', message: accepted.message };
  }
  const message = `once the spec has the version, kube-apiserver ${version} checks flags, token issuers and audit settings before anything changes, and holds the upgrade while it refuses them`;
  return { result: 'later', message };
}
