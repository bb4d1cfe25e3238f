import type { AdmissionCase, UpdateCase } from './admission-cases.ts';

/** A value of one field: the path below `spec`, and the spec that has it there. */
interface Field {
  readonly path: string;
  readonly with: (value: unknown) => Readonly<Record<string, unknown>>;
  /** Where the refusal is reported, if not at the field. */
  readonly at?: string;
}

const ingress = { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' };
const nodePort = { port: 30443, konnectivityPort: 30132 };

const endpointHost: Field = {
  path: 'controlPlaneEndpoint.host',
  with: (host) => ({ controlPlaneEndpoint: { host, port: 6443 } }),
};
const nodeAddress: Field = {
  path: 'exposure.nodePort.address',
  with: (address) => ({ exposure: { nodePort: { ...nodePort, address } } }),
};
const certificateName: Field = {
  path: 'apiServer.certSANs[0]',
  with: (name) => ({ apiServer: { certSANs: [name] } }),
};
const ingressHost: Field = {
  path: 'exposure.ingress.apiHost',
  with: (apiHost) => ({ exposure: { ingress: { ...ingress, apiHost } } }),
};
const loadBalancer = (field: string, isList = false): Field => ({
  path: `exposure.loadBalancer.${field}${isList ? '[0]' : ''}`,
  with: (value) => ({ exposure: { loadBalancer: { [field]: isList ? [value] : value } } }),
});
/** A map, whose keys are the values. */
const keysOf = (path: string, specOf: (map: object) => Readonly<Record<string, unknown>>): Field => ({
  path,
  with: (key) => specOf({ [String(key)]: '1' }),
});
const serviceAnnotation = keysOf('exposure.loadBalancer.annotations', (annotations) => ({
  exposure: { loadBalancer: { annotations } },
}));
const ingressAnnotation = keysOf('exposure.ingress.annotations', (annotations) => ({
  exposure: { ingress: { ...ingress, annotations } },
}));
const nodeLabel = keysOf('etcd.nodeSelector', (nodeSelector) => ({ etcd: { nodeSelector } }));
const resource = keysOf('coredns.resources.limits', (limits) => ({ coredns: { resources: { limits } } }));
const issuer = keysOf('oidcProviders', (providers) => ({
  oidcProviders: Object.fromEntries(
    Object.keys(providers).map((url) => [url, { audiences: ['a'], claimMappings: { username: 'claims.sub' } }]),
  ),
}));
const gateway = (part: 'name' | 'namespace'): Field => ({
  path: 'exposure.gateway',
  with: (value) => ({ exposure: { gateway: { name: 'a', namespace: 'b', [part]: value } } }),
});
const backup = (path: string, settings: (value: unknown) => object): Field => ({
  path: `etcd.backup.${path}`,
  with: (value) => ({ etcd: { backup: { schedule: '@daily', secret: { name: 's3' }, ...settings(value) } } }),
});
const mountPath = (): Field => ({
  path: 'deployment.apiServer.mounts.a.path',
  with: (path) => ({ deployment: { apiServer: { mounts: { a: { path, configMap: { name: 'a' } } } } } }),
});
const audit = (path: string, policy: (value: unknown) => object): Field => ({
  path: `deployment.apiServer.audit.${path}`,
  with: (value) => ({ deployment: { apiServer: { audit: { policy: policy(value) } } } }),
});

/** Values of fields that Kubernetes, or a program that reads them, refuses; and those that are close and fine. */
const values: readonly (readonly [field: Field, refused: readonly unknown[], accepted: readonly unknown[]])[] = [
  [
    endpointHost,
    ['Prod.example.org', 'https://a.example.org', 'a b', 'a_b', 'a.', '-a', '[2001:db8::1]', '300.1.1.1', 'a:6443', ''],
    ['prod', 'a.b-c.example.org', '192.0.2.1', '2001:db8::1', '1a.example.org'],
  ],
  [nodeAddress, ['https://x', 'Prod Host', 'fe80::1%eth0', '::ffff:192.0.2.1'], ['node.example.org', '192.0.2.10']],
  [certificateName, ['a b', 'https://a', '*', 'a.*.b', '2001:db8::g'], ['*.example.org', 'API.example.org', '::1']],
  [ingressHost, ['192.0.2.1', 'a..b', 'a/b'], ['a']],
  [
    loadBalancer('loadBalancerSourceRanges', true),
    ['10.0.0.0/33', '10.0.0.0', '10.0.0/8', '2001:db8::/129', '10.0.0.0/08', '10.0.0.0/8/8', 'any'],
    ['10.0.0.0/8', '0.0.0.0/0', '::/0', '192.0.2.1/24'],
  ],
  [loadBalancer('loadBalancerIP'), ['api.example.org', '192.0.2', '192.0.2.1/32'], ['', '192.0.2.1', '2001:db8::1']],
  [loadBalancer('loadBalancerClass'), ['a/b/c', '-a', 'a'.repeat(64)], ['example.org/internal', 'fast']],
  [
    serviceAnnotation,
    ['a b', 'a/b/c', '/a', ''],
    ['service.beta.kubernetes.io/aws-load-balancer-type', 'Example.org/a'],
  ],
  [ingressAnnotation, ['a b', 'a..b/c', 'a'.repeat(64)], ['nginx.ingress.kubernetes.io/ssl-passthrough']],
  [nodeLabel, ['Example.org/a', 'a..b/c', 'a'.repeat(64), '-'], ['topology.kubernetes.io/zone', 'disktype']],
  [resource, ['cpus', 'Memory', ''], ['cpu', 'ephemeral-storage', 'hugepages-2Mi', 'example.org/gpu']],
  [issuer, ['http://a.example.org', 'https://', 'https://u@a', 'https://a?b', 'a', 'https://a b'], ['https://a/b']],
  [gateway('name'), ['A_b', 'a b'], ['a.b-c']],
  [gateway('namespace'), ['a.b', 'A'], ['a-b']],
  [backup('secret.name', (name) => ({ secret: { name } })), ['A_b', ''], ['a.b']],
  [backup('secret.hostKey', (hostKey) => ({ secret: { name: 'a', hostKey } })), ['a/b', 'a b'], ['.a_B-1']],
  [
    backup('timeZone', (timeZone) => ({ timeZone })),
    ['Europe/ Berlin', '1', ''],
    ['Europe/Berlin', 'Etc/GMT+5', 'UTC'],
  ],
  [
    mountPath(),
    ['//etc/a', '/etc//a', '/etc/a//', '/etc/../usr/local/bin', '/a/..', '/./a', '/etc/.', '/', 'etc/a', '/a:b'],
    ['/etc/a/', '/..a', '/a/.b', '/a/...'],
  ],
  [
    mountPath(),
    [
      '/usr/local/bin',
      '/usr/local/bin/',
      '/usr',
      '/usr/local/lib/a',
      '/usr/local/share',
      '/bin',
      '/lib64/a',
      '/dev/shm',
    ],
    ['/usr/local/share/ca-certificates', '/usr/share/a', '/etc/ssl/certs', '/var/lib/a', '/srv/a', '/binary', '/extra'],
  ],
  [
    mountPath(),
    ['/etc', '/etc/kubernetes/pki', '/etc/kubernetes/pki/etcd', '/run', '/var/run'],
    [
      '/etc/kubernetes',
      '/etc/kubernetes/admission',
      '/etc/kubernetes/pki-of-mine',
      '/run/a',
      '/var/run/secrets/a',
      '/etc/a/kubernetes/pki',
    ],
  ],
  [audit('policy.omitStages[0]', (stage) => ({ omitStages: [stage], rules: [] })), ['Received'], ['Panic']],
];

const shown = (value: unknown) =>
  String(value).length > 60 ? `${String(value).length} letters` : `"${String(value)}"`;

export const valueCases: readonly AdmissionCase[] = values.flatMap(([field, refused, accepted]) => [
  ...refused.map((value) => ({
    name: `refuses ${field.path} of ${shown(value)}`,
    spec: field.with(value),
    refused: { path: `spec.${field.path}` },
  })),
  ...accepted.map((value) => ({ name: `accepts ${field.path} of ${shown(value)}`, spec: field.with(value) })),
]);

const programs = {
  etcd: { path: 'etcd', with: (settings: object) => ({ etcd: settings }) },
  ...Object.fromEntries(
    (['apiServer', 'controllerManager', 'scheduler'] as const).map((name) => [
      name,
      { path: `deployment.${name}`, with: (settings: object) => ({ deployment: { [name]: settings } }) },
    ]),
  ),
} as Readonly<
  Record<'etcd' | 'apiServer' | 'controllerManager' | 'scheduler', { path: string; with: (settings: object) => object }>
>;

/** Arguments with which a program loses or hides data, ends, or cannot be probed; and those that are close and fine. */
const args: readonly (readonly [
  program: keyof typeof programs,
  flag: string,
  refused: readonly string[],
  accepted: readonly string[],
])[] = [
  ['etcd', 'unsafe-no-fsync', ['true'], ['false']],
  ['etcd', 'strict-reconfig-check', ['false'], ['true']],
  ['etcd', 'peer-auto-tls', ['true'], ['false']],
  ['etcd', 'client-crl-file', ['/a'], []],
  ['etcd', 'discovery-token', ['a'], []],
  ['etcd', 'max-wals', ['0'], ['5']],
  ['etcd', 'max-request-bytes', ['1000'], ['10485760']],
  ['etcd', 'snapshot-count', ['1000000000'], ['20000']],
  ['etcd', 'max-learners', ['0'], ['1']],
  // Half of the default maximum of 16Gi.
  ['etcd', 'quota-backend-bytes', ['8589934593', '100000000000'], ['8589934592', '2147483648']],
  ['apiServer', 'version', ['true'], []],
  ['apiServer', 'bind-address', ['127.0.0.1'], ['::', '0.0.0.0']],
  ['apiServer', 'etcd-prefix', ['/other'], ['/registry']],
  ['apiServer', 'etcd-servers-overrides', ['/events#https://a'], []],
  ['apiServer', 'etcd-compaction-interval', ['0', '0s'], ['10m']],
  ['apiServer', 'authorization-config', ['/a'], []],
  ['apiServer', 'enable-admission-plugins', ['AlwaysDeny', 'AlwaysPullImages, AlwaysDeny'], ['AlwaysPullImages']],
  [
    'apiServer',
    'runtime-config',
    ['api/all=false', 'a/v1=true,v1=false', 'apps/v1 = 0', 'rbac.authorization.k8s.io/v1=F'],
    ['api/beta=false', 'flowcontrol.apiserver.k8s.io/v1=false', 'v1=true', 'batch/v1=false'],
  ],
  ['controllerManager', 'version', ['true'], []],
  ['controllerManager', 'master', ['https://a'], []],
  ['controllerManager', 'secure-port', ['0', '10259'], ['10257']],
  ['controllerManager', 'authorization-always-allow-paths', ['/metrics', ''], ['/healthz', '/metrics,/healthz']],
  ['controllerManager', 'controllers', ['*,-serviceaccount-controller'], ['*,-ttl-after-finished-controller']],
  ['controllerManager', 'concurrent-deployment-syncs', ['0'], ['10']],
  ['scheduler', 'bind-address', ['127.0.0.1'], ['0.0.0.0']],
  ['scheduler', 'secure-port', ['10257'], ['10259']],
  ['scheduler', 'authorization-always-allow-paths', ['/healthz,/readyz'], ['/readyz,/livez']],
  ['scheduler', 'config', ['/a'], []],
  ['scheduler', 'write-config-to', ['/a'], []],
];

export const argumentCases: readonly AdmissionCase[] = args.flatMap(([program, flag, refused, accepted]) => {
  const { path, with: specOf } = programs[program];
  const spec = (value: string) => specOf({ args: { [flag]: value } }) as Readonly<Record<string, unknown>>;
  return [
    ...refused.map((value) => ({
      name: `refuses the argument ${flag}=${value} of ${program}`,
      spec: spec(value),
      refused: { path: `spec.${path}.args`, because: flag },
    })),
    ...accepted.map((value) => ({
      name: `accepts the argument ${flag}=${value} of ${program}`,
      spec: spec(value),
    })),
  ];
});

const reading = (anonymousAuth: string) => ({
  deployment: { apiServer: { args: { 'anonymous-auth': anonymousAuth, 'authentication-config': '/extra/file' } } },
});

export const anonymousCases: readonly AdmissionCase[] = [
  {
    name: 'refuses that no probe gets an answer beside a file of the user, which can say the same better',
    spec: reading('false'),
    refused: { path: 'spec.deployment.apiServer.args', because: 'set anonymous in that file' },
  },
  { name: 'accepts anonymous requests beside a file of the user', spec: reading('true') },
  {
    name: 'accepts to refuse anonymous requests without such a file',
    spec: { deployment: { apiServer: { args: { 'anonymous-auth': 'false' } } } },
  },
];

const endpoint = { host: 'api.example.org', port: 6443 };
const ofClass = (loadBalancerClass?: string) => ({
  controlPlaneEndpoint: endpoint,
  exposure: { loadBalancer: loadBalancerClass === undefined ? {} : { loadBalancerClass } },
});
const otherClass = { path: 'spec.exposure.loadBalancer.loadBalancerClass', because: 'lets no Service change it' };

export const valueUpdateCases: readonly UpdateCase[] = [
  { name: 'refuses another load balancer class', from: ofClass('a'), spec: ofClass('b'), refused: otherClass },
  { name: 'refuses a load balancer class afterwards', from: ofClass(), spec: ofClass('b'), refused: otherClass },
  { name: 'refuses to remove the load balancer class', from: ofClass('a'), spec: ofClass(), refused: otherClass },
  { name: 'accepts the same load balancer class', from: ofClass('a'), spec: { ...ofClass('a'), replicas: 3 } },
  {
    name: 'accepts another load balancer class before the endpoint is set',
    from: { exposure: { loadBalancer: { loadBalancerClass: 'a' } } },
    spec: { exposure: { loadBalancer: { loadBalancerClass: 'b' } } },
  },
];
