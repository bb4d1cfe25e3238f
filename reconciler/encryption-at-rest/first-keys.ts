import { Deployment } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { ControlPlaneContext } from '../management/view.ts';
import { type InitialConfiguration, begin } from './initial-configuration.ts';
import type { Key } from './configuration.ts';
import { choose } from './keys.ts';
import { type EncryptionKeys, reconfigured } from './secret.ts';

/**
 * What to do if there is no Secret with keys.
 * @throws InvalidConfiguration for contradictory settings
 */
export function planInitialConfiguration(scope: ControlPlaneContext): InitialConfiguration {
  const { spec, name } = scope.cluster;
  const wanted = spec.encryptionAtRest?.provider;
  const isUsersOwn = spec.deployment.apiServer.args?.['encryption-provider-config'] !== undefined;
  if (isUsersOwn && wanted === 'secretbox') {
    throw new InvalidConfiguration(
      'InvalidConfiguration',
      'encryptionAtRest.provider and the argument encryption-provider-config of the API server contradict each other: remove one of them',
    );
  }
  return begin({
    wanted,
    hasStarted: hasStarted(scope),
    isConfigured: JSON.stringify(apiServersOf(scope) ?? {}).includes(`"name":"${namesOf(name).secrets.encryption}"`),
    reported: scope.hostedControlPlane.status?.encryptionAtRest?.provider,
    isUsersOwn,
  });
}

/**
 * Keys of a control plane that had none.
 * @param providers of the initial configuration, by name
 * @param retired keys of Secrets that may come from elsewhere
 */
export function firstKeys(
  scope: ControlPlaneContext,
  providers: readonly string[],
  retired: readonly Key[] = [],
): EncryptionKeys {
  const { rotation = '' } = scope.cluster.spec.encryptionAtRest ?? {};
  const none = { providers: [], retired };
  // The first API servers start with it.
  return { ...reconfigured(none, choose(providers, none, scope.now), rotation), isLoaded: !hasStarted(scope) };
}

function hasStarted(scope: ControlPlaneContext): boolean {
  const { initialization } = scope.hostedControlPlane.status ?? {};
  return apiServersOf(scope) !== undefined || (initialization?.controlPlaneInitialized ?? false);
}

function apiServersOf({ cluster, reader }: ControlPlaneContext): KubeObject | undefined {
  return reader.get(Deployment, namesOf(cluster.name).apiServer);
}
