import { parseArgs } from 'node:util';
import { z } from 'zod';
import { defaultPlatformLists, isPattern } from '../../constructs/cluster/platform-lists.ts';
import { host } from '../../constructs/api/address.ts';
import { isNetwork } from '../../constructs/cluster/cidr.ts';
import { withoutTrailingSlashes } from '../kube/trailing-slashes.ts';

const flag = (fallback: boolean) =>
  z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .transform((value) => (value === undefined ? fallback : value === 'true'));

const whole = 'must be a whole number of at least 1';
const count = (fallback: number) => z.coerce.number(whole).int(whole).min(1, whole).default(fallback);

const list = (fallback: readonly string[] = []) =>
  z
    .string()
    .default(fallback.join(','))
    .transform((text): readonly string[] => text.split(/[\s,]+/).filter((part) => part !== ''));

const patterns = (fallback: readonly string[]) =>
  list(fallback).refine((all) => all.every(isPattern), 'must be patterns such as example.org/*, separated by commas');

const level = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['debug', 'info', 'warn', 'error'], 'must be debug, info, warn or error'));

/** Environment variables, with the names and defaults of the reference provider. Descriptions are for the page of settings. */
const Environment = z.object({
  LEADER_ELECTION: flag(true).describe('Whether only one of several instances is active at a time.'),
  WEBHOOK_CERT_DIR: z
    .string()
    .optional()
    .describe('Accepted and unused, because the CRDs contain all validation rules.'),
  MAX_CONCURRENT_RECONCILES: count(10).describe(
    'Maximum number of HostedControlPlanes that are reconciled concurrently.',
  ),
  ADOPTION_CONCURRENCY: count(1).describe(
    'Maximum number of control planes that adopt a newer release revision at a time because theirs is no longer kept.',
  ),
  CONTROLLER_NAMESPACE: z
    .string()
    .min(1)
    .optional()
    .describe('Namespace of the Lease for leader election; the namespace of the operator when unset.'),
  POD_NAME: z.string().min(1).optional().describe('Name of the pod of the operator. The installation sets it.'),
  OPERATOR_IMAGE: z
    .string()
    .min(1)
    .optional()
    .describe('Image of the pods that restore backups; the image of the operator when unset.'),
  DENIED_CIDRS: list()
    .refine((cidrs) => cidrs.every(isNetwork), 'must be networks such as 10.0.0.0/8 and fd00::/64, separated by commas')
    .describe(
      'Networks to which no control plane may connect, in addition to the networks that the operator finds, whatever its networkPolicy is: networks of nodes, pods and Services, and metadata services of a cloud beyond link-local addresses. The operator itself connects to no store in them that is not in ALLOWED_DESTINATIONS. Separated by commas.',
    ),
  ALLOWED_DESTINATIONS: list()
    .refine(
      (all) => all.every((one) => isNetwork(one) || host().safeParse(one).success),
      'must be networks and host names such as 10.96.7.1/32 and minio.minio.svc, separated by commas',
    )
    .describe(
      'Networks and host names inside to which the operator itself may connect when a control plane names them, such as minio.minio.svc: backup stores and their token services. When unset, everything inside but DENIED_CIDRS, the management API servers, and loopback and link-local addresses; once set, what is listed only. Separated by commas.',
    ),
  INGRESS_ANNOTATIONS: patterns(defaultPlatformLists.ingressAnnotations).describe(
    'Keys that exposure.ingress.annotations may have, in addition to the keys of TLS passthrough. Patterns with * at their ends, separated by commas; ! before one takes away from the others, and !* allows none. A key that is not allowed has no effect, and the condition SpecSupported names it; a control plane that has it keeps it.',
  ),
  INGRESS_CLASSES: patterns(defaultPlatformLists.ingressClasses).describe(
    'Classes that exposure.ingress.className may name, as patterns.',
  ),
  LOAD_BALANCER_ANNOTATIONS: patterns(defaultPlatformLists.loadBalancerAnnotations).describe(
    'Keys that exposure.loadBalancer.annotations may have, as patterns. By default the keys of known clouds and MetalLB, without what takes a name, an address, a certificate or a load balancer of others.',
  ),
  LOAD_BALANCER_CLASSES: patterns(defaultPlatformLists.loadBalancerClasses).describe(
    'Classes that exposure.loadBalancer.loadBalancerClass may name, as patterns.',
  ),
  CLUSTER_ISSUERS: list()
    .refine(
      (issuers) =>
        issuers.every((issuer) => /^(\*|[a-z0-9-]+)\/[A-Za-z][A-Za-z0-9]*(\.[a-z0-9.-]+)?\/[a-z0-9.-]+$/.test(issuer)),
      'must be issuers such as team-a/ClusterIssuer/clusters, separated by commas',
    )
    .describe(
      'Issuers of cert-manager beyond Issuers of its own namespace that a control plane may name in certificates.issuerRef: namespace or *, kind, with the API group if that is not cert-manager.io, and name, such as team-a/ClusterIssuer/clusters. Separated by commas.',
    ),
  MANAGEMENT_ISSUER_URL: z
    .url({ protocol: /^https$/, error: 'must be a URL such as https://issuer.example.org' })
    .optional()
    .describe(
      'Issuer of the service account tokens of the management cluster, for control planes with managementClusterIssuer. Their API servers must reach it, and read its keys without a credential.',
    ),
  MANAGEMENT_ISSUER_CA_FILE: z
    .string()
    .optional()
    .describe(
      'File with the CA certificates of that issuer, such as /var/run/secrets/kubernetes.io/serviceaccount/ca.crt; the system roots of the API server image when unset.',
    ),
  LOG_FORMAT: z
    .enum(['json', 'text'], 'must be json or text')
    .default('json')
    .describe('Format of log lines: json, or text for people. One line for each state change.'),
  LOG_LEVEL: level.default('info').describe('Lowest level of log lines that are written: debug, info, warn or error.'),
  OPTIMIZE_FOR: z
    .enum(['auto', 'size', 'speed'], 'must be auto, size or speed')
    .default('auto')
    .describe(
      'Whether the operator collects garbage early, for little memory (size), or late, for little processor time (speed). With auto it does the first with fewer than 20 control planes, and lets its heap grow by a third with more. With speed, and NODE_OPTIONS set to --max-semi-space-size=16, a fleet needs the least processor time and the most memory.',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as http://collector:4318/v1/traces' })
    .optional()
    .describe(
      'Collector that takes traces by OTLP over HTTP, with its path, such as http://collector:4318/v1/traces. The operator sends none when neither this nor the next one is set.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as http://collector:4318' })
    .optional()
    .describe('The same without the path, which is /v1/traces.'),
});

/** Flags, by name. */
const flags = {
  namespace: {
    type: 'string',
    description:
      'Reconcile only HostedControlPlanes of this namespace; dist/one-namespace.yaml has the rights for that.',
  },
  'watch-filter': {
    type: 'string',
    description:
      'Reconcile only objects whose label cluster.x-k8s.io/watch-filter has this value, which divides a fleet among instances.',
  },
  'health-port': {
    type: 'string',
    default: '8081',
    description:
      'Port of /healthz and /readyz. The first is red, and says why, when no watch of the management cluster has received anything for ten minutes or the queue stands still: the kubelet starts the operator again. The second is green once all caches are filled. An operator that starts while the API server is unreachable waits for it.',
  },
  notes: {
    type: 'string',
    description:
      'Directory that outlives the process, where the operator notes which control planes it works on; the installation sets it to /notes, a volume in memory. A control plane that was in hand at two ends of the operator within an hour gets the condition Quarantined, and a process of its own works on it, until that one ends as it should. Without it, nothing is noted, and nothing ends an operator that stands still but the kubelet after a minute.',
  },
  only: {
    type: 'string',
    description:
      'The operator itself passes it to the process that works on a control plane in quarantine: NAMESPACE/NAME/CLUSTER.',
  },
  'metrics-port': {
    type: 'string',
    default: '0',
    description:
      'Port of /metrics for Prometheus (expiries, backups, etcd, components, conditions, reconciles, requests); 0 disables it. It names all control planes to everyone who can connect, so restrict it by a NetworkPolicy, or use the next one.',
  },
  'secure-metrics-port': {
    type: 'string',
    default: '0',
    description:
      'Port of the same, which the installation sets to 8443, by HTTPS, for clients that send a token of the management cluster and may get the path /metrics there, as with other controllers of Cluster API; the ClusterRole capi-hosted-control-plane-metrics-reader permits it. The certificate is new at each start and signed by no known CA.',
  },
} as const;

/** Configuration of the operator; the descriptions of its variables and flags say what each member is. */
export type Config = Readonly<ReturnType<typeof readConfig>>;

/**
 * Reads arguments and environment once, at the start.
 * @throws with one line per invalid variable: its name, its value, and what is allowed.
 */
export function readConfig(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
  const { values } = parseArgs({ args: [...args], options: flags });
  // An empty variable counts as unset, because manifests unset variables that way.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => {
      const name = path.join('.');
      return `environment variable ${name} ${message}, not "${environment[name] ?? ''}"`;
    });
    throw new Error(problems.join('\n'));
  }
  return {
    leaderElection: parsed.data.LEADER_ELECTION,
    maxConcurrentReconciles: parsed.data.MAX_CONCURRENT_RECONCILES,
    adoptionConcurrency: parsed.data.ADOPTION_CONCURRENCY,
    controllerNamespace: parsed.data.CONTROLLER_NAMESPACE,
    podName: parsed.data.POD_NAME,
    operatorImage: parsed.data.OPERATOR_IMAGE,
    deniedCidrs: parsed.data.DENIED_CIDRS,
    allowedDestinations: parsed.data.ALLOWED_DESTINATIONS,
    platformLists: {
      ingressAnnotations: parsed.data.INGRESS_ANNOTATIONS,
      loadBalancerAnnotations: parsed.data.LOAD_BALANCER_ANNOTATIONS,
      ingressClasses: parsed.data.INGRESS_CLASSES,
      loadBalancerClasses: parsed.data.LOAD_BALANCER_CLASSES,
    },
    clusterIssuers: parsed.data.CLUSTER_ISSUERS,
    managementIssuer: parsed.data.MANAGEMENT_ISSUER_URL
      ? { url: parsed.data.MANAGEMENT_ISSUER_URL, caFile: parsed.data.MANAGEMENT_ISSUER_CA_FILE }
      : undefined,
    tracesEndpoint: tracesEndpointOf(parsed.data),
    optimizeFor: parsed.data.OPTIMIZE_FOR,
    logFormat: parsed.data.LOG_FORMAT,
    logLevel: parsed.data.LOG_LEVEL,
    // An empty flag means no filter, as in all controllers of Cluster API.
    namespace: values.namespace || undefined,
    watchFilter: values['watch-filter'] || undefined,
    notes: values.notes || undefined,
    only: values.only === undefined ? undefined : onlyOf(values.only),
    healthPort: portOf('health-port', values['health-port']),
    metricsPort: portOf('metrics-port', values['metrics-port']),
    secureMetricsPort: portOf('secure-metrics-port', values['secure-metrics-port']),
  };
}

type ParsedEnvironment = z.output<typeof Environment>;

function tracesEndpointOf({
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole,
  OTEL_EXPORTER_OTLP_ENDPOINT: base,
}: ParsedEnvironment) {
  return whole ?? (base === undefined ? undefined : `${withoutTrailingSlashes(base)}/v1/traces`);
}

/** The control plane on which the second process of a quarantine works alone, while another instance leads. */
function onlyOf(text: string) {
  const [namespace, name, cluster, ...rest] = text.split('/');
  if (namespace && name && cluster && rest.length === 0) return { namespace, name, cluster };
  throw new Error(`--only must be NAMESPACE/NAME/CLUSTER, not "${text}"`);
}

function portOf(flag: string, text: string): number {
  if (/^\d+$/.test(text) && Number(text) <= 65535) return Number(text);
  throw new Error(`--${flag} must be a port, not "${text}"`);
}

/** A setting of the operator, for its page. */
export interface Setting {
  readonly name: string;
  /** As it is read; undefined for none. */
  readonly default?: unknown;
  readonly description: string;
}

const defaults: Partial<ParsedEnvironment> = Environment.parse({});

export const environmentVariables: readonly Setting[] = Object.entries(Environment.shape).map(([name, schema]) => ({
  name,
  default: defaults[name as keyof ParsedEnvironment],
  description: schema.description ?? '',
}));

export const flagSettings: readonly Setting[] = Object.entries(flags).map(([name, flag]) => ({
  name: `--${name}`,
  ...flag,
}));
