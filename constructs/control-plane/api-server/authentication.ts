import { Yaml } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import type { HostedCluster } from '../../cluster/cluster.ts';
import { definedOnly } from '../../cluster/defined-only.ts';
import { objectLabels } from '../../cluster/labels.ts';
import { namesOf } from '../../cluster/names.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import { hasChange } from '../../cluster/versions.ts';
import type { Flag } from '../../pod/flags.ts';
import { projected } from '../../pod/component.ts';

/** Directory of {@link authenticationFile} in the pod. */
export const authenticationPath = '/etc/kubernetes/authentication';
/** The key in the ConfigMap, and the name of the file. */
export const authenticationFile = 'authentication-configuration.yaml';

const anonymousAuth = 'anonymous-auth';

/**
 * What is asked for without a token or certificate although a user refuses anonymous requests: by probes and load balancers, and by
 * `kubeadm join`, which looks here for the CA that its token signs.
 */
const anonymousPaths = [
  '/healthz',
  '/livez',
  '/readyz',
  '/api/v1/namespaces/kube-public/configmaps/cluster-info',
] as const;

/** Whether the arguments of a user refuse every anonymous request, also those of probes. */
export function refusesAnonymous({ spec }: Pick<HostedCluster, 'spec'>): boolean {
  return ['false', 'False', 'FALSE', 'f', 'F', '0'].includes(spec.deployment.apiServer.args?.[anonymousAuth] ?? '');
}

type Authenticating = Pick<HostedCluster, 'spec' | 'release'>;

const namesAnonymousPaths = (cluster: Authenticating) =>
  refusesAnonymous(cluster) && rendersWith(cluster, 'answersProbesWithoutAnonymous');

/** The arguments of a user, without the one that {@link authenticationConfiguration} has instead: the two exclude each other. */
export function argumentsBesideFile(cluster: Authenticating): Readonly<Record<string, string>> {
  const { args = {} } = cluster.spec.deployment.apiServer;
  if (!namesAnonymousPaths(cluster)) return args;
  const { [anonymousAuth]: _, ...others } = args;
  return others;
}

/**
 * The file in which an API server reads whose tokens it accepts, besides those of its own service accounts, and what it answers
 * anonymously; undefined when `oidcProviders` has no entry, and no argument refuses anonymous requests. Equal providers give equal
 * text, in whatever order they are written.
 */
export function authenticationConfiguration(cluster: Authenticating): string | undefined {
  const { spec } = cluster;
  const providers = Object.entries(spec.oidcProviders ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const anonymous = namesAnonymousPaths(cluster)
    ? { anonymous: { enabled: true, conditions: anonymousPaths.map((path) => ({ path })) } }
    : {};
  if (providers.length === 0 && !namesAnonymousPaths(cluster)) return undefined;
  const version = hasChange(spec.version, 'servesAuthenticationConfigurationV1') ? 'v1' : 'v1beta1';
  return Yaml.stringify({
    apiVersion: `apiserver.config.k8s.io/${version}`,
    kind: 'AuthenticationConfiguration',
    ...anonymous,
    jwt: providers.map(([url, { certificateAuthority, audiences, claimValidationRules, claimMappings }]) => ({
      issuer: {
        url,
        ...definedOnly({ certificateAuthority: certificateAuthority || undefined }),
        audiences: [...new Set(audiences)].sort(),
        // The API server requires it for several audiences, and for one it means the same.
        audienceMatchPolicy: 'MatchAny',
      },
      ...(claimValidationRules?.length
        ? {
            claimValidationRules: claimValidationRules.map(({ expression, message }) => ({
              expression,
              ...definedOnly({ message }),
            })),
          }
        : {}),
      claimMappings: {
        username: { expression: claimMappings.username },
        ...(claimMappings.groups ? { groups: { expression: claimMappings.groups } } : {}),
      },
    })),
  });
}

/** The flag that names the file; none without one, whose place the user's own flags then have. */
export function authenticationFlags(cluster: Authenticating): Flag[] {
  if (authenticationConfiguration(cluster) === undefined) return [];
  return [['authentication-config', `${authenticationPath}/${authenticationFile}`, 'reloaded when it changes']];
}

/** ConfigMap with {@link authenticationConfiguration}; nothing when there is none. */
export class AuthenticationConfig extends Construct {
  constructor(scope: Construct, id: string, { cluster }: { readonly cluster: HostedCluster }) {
    super(scope, id);
    const configuration = authenticationConfiguration(cluster);
    if (configuration === undefined) return;
    new k8s.KubeConfigMap(this, 'config', {
      metadata: {
        name: namesOf(cluster.name).authentication,
        namespace: cluster.namespace,
        labels: objectLabels(cluster.name, 'api-server'),
      },
      data: { [authenticationFile]: configuration },
    });
  }
}

/** The volume of the file, and where it is mounted; none without one. */
export function authenticationVolume(cluster: HostedCluster): {
  readonly volumes: k8s.Volume[];
  readonly mounts: k8s.VolumeMount[];
} {
  if (authenticationConfiguration(cluster) === undefined) return { volumes: [], mounts: [] };
  const configMap = namesOf(cluster.name).authentication;
  return {
    volumes: [projected('authentication', [{ configMap, items: { [authenticationFile]: authenticationFile } }])],
    mounts: [{ name: 'authentication', mountPath: authenticationPath, readOnly: true }],
  };
}
