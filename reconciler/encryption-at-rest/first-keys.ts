import { Deployment } from '../../constructs/api/resources.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import type { KubeObject } from '../kube/object.ts';
import { InvalidConfiguration } from '../engine/outcome.ts';
import type { ControlPlaneContext } from '../clusters/management/view.ts';
import { identity, type Key } from './configuration.ts';
import { type EncryptionKeys, providersNamed, reconfigured } from './secret.ts';
import { fresh } from './plan-rotation.ts';

/**
 * What to do if there is no Secret with keys.
 * @param holdsEarlierData whether etcd's volumes are those of an earlier HostedControlPlane
 * @throws InvalidConfiguration for contradictory settings
 */
export function initialConfigurationFor(
  scope: ControlPlaneContext,
  holdsEarlierData: boolean,
): InitialConfigurationDecision {
  const { spec, name } = scope.cluster;
  const wanted = spec.encryptionAtRest?.provider;
  const isUsersOwn = spec.deployment.apiServer.args?.['encryption-provider-config'] !== undefined;
  if (isUsersOwn && wanted === 'secretbox') {
    throw new InvalidConfiguration(
      'InvalidConfiguration',
      'encryptionAtRest.provider and the argument encryption-provider-config of the API server contradict each other: remove one of them',
    );
  }
  return planInitialConfiguration({
    wanted,
    hasStarted: hasStarted(scope),
    isConfigured: JSON.stringify(apiServersOf(scope) ?? {}).includes(`"name":"${namesOf(name).secrets.encryption}"`),
    reported: scope.hostedControlPlane.status?.encryptionAtRest?.provider,
    isUsersOwn,
    holdsEarlierData,
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
  return { ...reconfigured(none, providersNamed(providers, none, scope.now), rotation), isLoaded: !hasStarted(scope) };
}

function hasStarted(scope: ControlPlaneContext): boolean {
  const { initialization } = scope.hostedControlPlane.status ?? {};
  return apiServersOf(scope) !== undefined || (initialization?.controlPlaneInitialized ?? false);
}

function apiServersOf({ cluster, reader }: ControlPlaneContext): KubeObject | undefined {
  return reader.get(Deployment, namesOf(cluster.name).apiServer);
}

/** The initial configuration of a control plane without one. */
type InitialConfigurationDecision =
  | { readonly kind: 'configure'; readonly providers: readonly string[] }
  /** Secrets are stored unencrypted, and nothing is configured. */
  | { readonly kind: 'clear' }
  /** The user provides the configuration, by an argument of the API server. */
  | { readonly kind: 'users' }
  /** A configuration existed, and without it the Secrets encrypted with its keys cannot be read. */
  | { readonly kind: 'lost' };

export interface InitialConfigurationInput {
  readonly wanted: 'secretbox' | 'None' | undefined;
  /** API servers run, or have run. */
  readonly hasStarted: boolean;
  /** The API servers are configured to read a configuration. */
  readonly isConfigured: boolean;
  /** The provider in the status. */
  readonly reported: 'secretbox' | 'None' | undefined;
  /** The user's arguments of the API servers name a configuration. */
  readonly isUsersOwn: boolean;
  /** etcd's volumes are those of an earlier HostedControlPlane. */
  readonly holdsEarlierData: boolean;
}

/** What to do if there is no configuration. */
export function planInitialConfiguration({
  wanted,
  hasStarted,
  isConfigured,
  reported,
  isUsersOwn,
  holdsEarlierData: isEarlier,
}: InitialConfigurationInput): InitialConfigurationDecision {
  if (reported === 'secretbox' || (isConfigured && reported === undefined)) return { kind: 'lost' };
  // No Secret is encrypted, but pods need the file.
  if (isConfigured) return { kind: 'configure', providers: [identity] };
  if (isUsersOwn) return { kind: 'users' };
  if (wanted === 'None') return { kind: 'clear' };
  if (isEarlier && !hasStarted) return { kind: 'lost' };
  if (!hasStarted) return { kind: 'configure', providers: [fresh] };
  // One of several API servers loads the key first. It must not write what the others cannot read.
  return wanted === 'secretbox' ? { kind: 'configure', providers: [identity, fresh] } : { kind: 'clear' };
}
