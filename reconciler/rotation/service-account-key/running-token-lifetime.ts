import { longestTokenSeconds } from '../../../constructs/control-plane/api-server/token-lifetime.ts';
import type { KubeObject } from '../../kube/object.ts';
import { type DeploymentObject, deploymentReadiness } from '../../kube/readiness.ts';

interface APIServers extends DeploymentObject {
  readonly spec?: DeploymentObject['spec'] & {
    readonly template?: {
      readonly spec?: { readonly containers?: readonly { readonly name: string; readonly args?: readonly string[] }[] };
    };
  };
}

/**
 * Lifetime of the longest token that API servers sign, in seconds, once all of them match their Deployment; undefined
 * before that.
 */
export function runningTokenSeconds(deployment: KubeObject | undefined): number | undefined {
  const { spec }: APIServers = deployment ?? { apiVersion: '', kind: '', metadata: { name: '' } };
  const args = spec?.template?.spec?.containers?.find(({ name }) => name === 'kube-apiserver')?.args;
  if (!args || !deploymentReadiness(deployment).ready) return undefined;
  return longestTokenSeconds(Object.fromEntries(args.map(named)));
}

/** `--name=value` */
function named(arg: string): [name: string, value: string] {
  const [name = '', ...value] = arg.replace(/^--/, '').split('=');
  return [name, value.join('=')];
}
