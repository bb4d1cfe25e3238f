import { describe, expect, it } from 'vitest';
import { defaultPlatformLists } from '../../../constructs/cluster/platform-lists.ts';
import { environmentVariables, readConfig } from '../../../reconciler/operator/config.ts';

const defaults = {
  leaderElection: true,
  maxConcurrentReconciles: 10,
  adoptionConcurrency: 1,
  controllerNamespace: undefined,
  podName: undefined,
  operatorImage: undefined,
  deniedCidrs: [],
  allowedDestinations: [],
  platformLists: defaultPlatformLists,
  clusterIssuers: [],
  managementIssuer: undefined,
  tracesEndpoint: undefined,
  optimizeFor: 'auto',
  logFormat: 'json',
  logLevel: 'info',
  namespace: undefined,
  watchFilter: undefined,
  healthPort: 8081,
  metricsPort: 0,
  secureMetricsPort: 0,
};

describe('the environment', () => {
  it('may be empty', () => {
    expect(readConfig([], {})).toEqual(defaults);
  });

  it.each<[string, string, Partial<ReturnType<typeof readConfig>>]>([
    ['LEADER_ELECTION', 'false', { leaderElection: false }],
    ['LEADER_ELECTION', 'true', {}],
    ['LEADER_ELECTION', '', {}],
    ['MAX_CONCURRENT_RECONCILES', '1', { maxConcurrentReconciles: 1 }],
    ['MAX_CONCURRENT_RECONCILES', '', {}],
    ['ADOPTION_CONCURRENCY', '5', { adoptionConcurrency: 5 }],
    ['CONTROLLER_NAMESPACE', 'capi-system', { controllerNamespace: 'capi-system' }],
    ['CONTROLLER_NAMESPACE', '', {}],
    ['POD_NAME', 'manager-0', { podName: 'manager-0' }],
    ['OPERATOR_IMAGE', 'registry.example.org/manager:v1', { operatorImage: 'registry.example.org/manager:v1' }],
    ['DENIED_CIDRS', '10.0.0.0/8, fd00::/64', { deniedCidrs: ['10.0.0.0/8', 'fd00::/64'] }],
    ['DENIED_CIDRS', '', {}],
    [
      'ALLOWED_DESTINATIONS',
      '10.96.7.1/32,minio.minio.svc 192.0.2.1',
      { allowedDestinations: ['10.96.7.1/32', 'minio.minio.svc', '192.0.2.1'] },
    ],
    [
      'INGRESS_ANNOTATIONS',
      'a.example.org/*, !*/b',
      { platformLists: { ...defaultPlatformLists, ingressAnnotations: ['a.example.org/*', '!*/b'] } },
    ],
    ['INGRESS_CLASSES', 'edge', { platformLists: { ...defaultPlatformLists, ingressClasses: ['edge'] } }],
    [
      'LOAD_BALANCER_ANNOTATIONS',
      '!*',
      { platformLists: { ...defaultPlatformLists, loadBalancerAnnotations: ['!*'] } },
    ],
    ['LOAD_BALANCER_CLASSES', 'a,b', { platformLists: { ...defaultPlatformLists, loadBalancerClasses: ['a', 'b'] } }],
    [
      'CLUSTER_ISSUERS',
      'team-a/ClusterIssuer/ca, */AWSPCAClusterIssuer.awspca.cert-manager.io/root',
      { clusterIssuers: ['team-a/ClusterIssuer/ca', '*/AWSPCAClusterIssuer.awspca.cert-manager.io/root'] },
    ],
    ['CLUSTER_ISSUERS', '', {}],
    [
      'MANAGEMENT_ISSUER_URL',
      'https://issuer.example.org/a',
      { managementIssuer: { url: 'https://issuer.example.org/a', caFile: undefined } },
    ],
    ['MANAGEMENT_ISSUER_URL', '', {}],
    ['MANAGEMENT_ISSUER_CA_FILE', '/ca.crt', {}],
    ['LOG_FORMAT', 'text', { logFormat: 'text' }],
    ['LOG_FORMAT', '', {}],
    ['LOG_LEVEL', 'debug', { logLevel: 'debug' }],
    ['LOG_LEVEL', 'WARN', { logLevel: 'warn' }],
    ['LOG_LEVEL', '', {}],
    ['OPTIMIZE_FOR', 'speed', { optimizeFor: 'speed' }],
    ['OPTIMIZE_FOR', 'size', { optimizeFor: 'size' }],
    ['OPTIMIZE_FOR', '', {}],
    ['WEBHOOK_CERT_DIR', '/certs', {}],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/', { tracesEndpoint: 'http://collector:4318/v1/traces' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'https://collector/traces', { tracesEndpoint: 'https://collector/traces' }],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', '', {}],
    ['SOMETHING_ELSE', 'x', {}],
  ])('is read: %s=%s', (name, value, expected) => {
    expect(readConfig([], { [name]: value })).toEqual({ ...defaults, ...expected });
  });

  it.each<string[]>([
    ['LEADER_ELECTION', 'yes', 'must be true or false'],
    ['MAX_CONCURRENT_RECONCILES', '0', 'must be a whole number of at least 1'],
    ['MAX_CONCURRENT_RECONCILES', '1.5', 'must be a whole number of at least 1'],
    ['MAX_CONCURRENT_RECONCILES', 'many', 'must be a whole number of at least 1'],
    ...['10.0.0.1', '0.0.0.0/0', '::/0', '10.0.0.0/33', 'fd00::/129', 'x/8', '10.0.0.0/8/8'].map((text) => [
      'DENIED_CIDRS',
      text,
      'must be networks such as 10.0.0.0/8 and fd00::/64, separated by commas',
    ]),
    ...['ca', 'ClusterIssuer/ca', 'team-a/*/ca', 'team-a/ClusterIssuer/*', '/ClusterIssuer/ca'].map((text) => [
      'CLUSTER_ISSUERS',
      text,
      'must be issuers such as team-a/ClusterIssuer/clusters, separated by commas',
    ]),
    ['MANAGEMENT_ISSUER_URL', 'http://issuer.example.org', 'must be a URL such as https://issuer.example.org'],
    ...['0.0.0.0/0', '*.svc', 'https://a'].map((text) => [
      'ALLOWED_DESTINATIONS',
      text,
      'must be networks and host names such as 10.96.7.1/32 and minio.minio.svc, separated by commas',
    ]),
    ...['a*b', '!', '**', 'a,!*b*c'].map((text) => [
      'INGRESS_ANNOTATIONS',
      text,
      'must be patterns such as example.org/*, separated by commas',
    ]),
    ['LOG_FORMAT', 'xml', 'must be json or text'],
    ['LOG_LEVEL', 'loud', 'must be debug, info, warn or error'],
  ])('is refused with the error and the allowed values: %s=%s', (name, value, allowed) => {
    expect(() => readConfig([], { [name]: value })).toThrow(`environment variable ${name} ${allowed}, not "${value}"`);
  });

  it('is refused with all errors at once', () => {
    expect(() => readConfig([], { LOG_LEVEL: 'loud', LOG_FORMAT: 'xml' })).toThrow(/LOG_FORMAT.*\n.*LOG_LEVEL/);
  });

  it('is documented, every variable of it', () => {
    expect(environmentVariables.map(({ name }) => name)).toEqual([
      'LEADER_ELECTION',
      'WEBHOOK_CERT_DIR',
      'MAX_CONCURRENT_RECONCILES',
      'ADOPTION_CONCURRENCY',
      'CONTROLLER_NAMESPACE',
      'POD_NAME',
      'OPERATOR_IMAGE',
      'DENIED_CIDRS',
      'ALLOWED_DESTINATIONS',
      'INGRESS_ANNOTATIONS',
      'INGRESS_CLASSES',
      'LOAD_BALANCER_ANNOTATIONS',
      'LOAD_BALANCER_CLASSES',
      'CLUSTER_ISSUERS',
      'MANAGEMENT_ISSUER_URL',
      'MANAGEMENT_ISSUER_CA_FILE',
      'LOG_FORMAT',
      'LOG_LEVEL',
      'OPTIMIZE_FOR',
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
    ]);
    expect(environmentVariables.filter(({ description }) => !description.endsWith('.'))).toEqual([]);
  });
});

describe('the arguments', () => {
  it.each<[string, Partial<ReturnType<typeof readConfig>>]>([
    ['--namespace=team', { namespace: 'team' }],
    ['--namespace=', {}],
    ['--watch-filter=shard-1', { watchFilter: 'shard-1' }],
    ['--watch-filter=', {}],
    ['--health-port=0', { healthPort: 0 }],
    ['--health-port=65535', { healthPort: 65535 }],
    ['--metrics-port=0', { metricsPort: 0 }],
    ['--metrics-port=9100', { metricsPort: 9100 }],
    ['--secure-metrics-port=8443', { secureMetricsPort: 8443 }],
  ])('are read: %s', (argument, expected) => {
    expect(readConfig([argument], {})).toEqual({ ...defaults, ...expected });
  });

  it.each([
    ['--health-port=65536', '--health-port must be a port, not "65536"'],
    ['--health-port=http', '--health-port must be a port, not "http"'],
    ['--health-port=', '--health-port must be a port, not ""'],
    ['--metrics-port=all', '--metrics-port must be a port, not "all"'],
    ['--health-port=-1', '--health-port must be a port, not "-1"'],
    ['--namespaces=a', "Unknown option '--namespaces'"],
    ['team', "Unexpected argument 'team'"],
  ])('are refused with the error: %s', (argument, message) => {
    expect(() => readConfig([argument], {})).toThrow(message);
  });
});
