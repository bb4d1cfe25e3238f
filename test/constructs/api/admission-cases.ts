import { anonymousCases, argumentCases, valueCases, valueUpdateCases } from './refused-values.ts';

/** A spec and the expected validation result; the pure checks and a real API server must agree. */
export interface AdmissionCase {
  /** A sentence about the expected behaviour. */
  readonly name: string;
  /** Merged over a minimal valid spec; `undefined` removes a field. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Where and why it is refused; accepted when absent. The text is omitted where server and parser use different words. */
  readonly refused?: { readonly path: string; readonly because?: string };
}

/** An update of an existing object; only an API server can check it. */
export interface UpdateCase extends AdmissionCase {
  /** Merged over the minimal spec before the update. */
  readonly from: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/** The smallest valid spec. */
export const minimalSpec = { version: 'v1.34.2', exposure: { loadBalancer: {} } };

const nodePort = { address: '192.0.2.10', port: 30443, konnectivityPort: 30132 };
const gateway = { name: 'capi', namespace: 'capi-system' };
const ingress = { apiHost: 'api.example.org', konnectivityHost: 'konnectivity.example.org' };
const issuer = { audiences: ['kubernetes'], claimMappings: { username: 'claims.email' } };
const backup = '2026-11-21T09-15-31.123Z-4711';
const s3 = { name: 'backup' };

const exists = { key: 'example.org/team', operator: 'Exists' };
const term = { matchExpressions: [{ key: 'a', operator: 'In' }] };

const exposureNeeded = 'exactly one exposure strategy is needed';

export const admissionCases: readonly AdmissionCase[] = [
  ...valueCases,
  ...argumentCases,
  ...anonymousCases,
  { name: 'accepts the minimal spec', spec: {} },
  {
    name: 'accepts the example of the reference provider',
    spec: { version: 'v1.33.0', replicas: 3, exposure: undefined, gateway },
  },
  {
    name: 'accepts readiness gates of the operator and of others',
    spec: { readinessGates: [{ conditionType: 'EtcdBackupReady' }, { conditionType: 'example.org/NetworkReady' }] },
  },
  {
    name: 'accepts kubeconfigs of users and groups',
    spec: {
      kubeconfigs: [
        { name: 'ci', user: 'ci', groups: ['deployers'], lifetime: '2h' },
        { name: 'b', user: 'b' },
        { name: 'ca-team', user: 'kubeadmin' },
      ],
    },
  },
  ...(
    [
      [
        'refuses a kubeconfig of a user of Kubernetes',
        { name: 'a', user: 'system:admin' },
        'kubeconfigs[0].user',
        'system:',
      ],
      [
        'refuses a kubeconfig of a component, which kubelets obey',
        { name: 'a', user: 'kube-apiserver-kubelet-client' },
        'kubeconfigs[0].user',
        'are components',
      ],
      [
        'refuses a kubeconfig in a group that may do everything',
        { name: 'a', user: 'a', groups: ['system:masters'] },
        'kubeconfigs[0].groups[0]',
        'system:',
      ],
      [
        'refuses a kubeconfig in a group of administrators',
        { name: 'a', user: 'a', groups: ['kubeadm:cluster-admins'] },
        'kubeconfigs[0].groups[0]',
        'belong to kubeadm',
      ],
      ...['ca', 'sa', 'etcd', 'ca-next', 'proxy-request', 'kubeconfig', 'x-kubeconfig-y', 'controller-manager'].map(
        (name) =>
          [
            `refuses a kubeconfig whose Secret may be the ${name} of another Cluster`,
            { name, user: 'a' },
            'kubeconfigs[0].name',
            'that Secrets of control planes have',
          ] as const,
      ),
      [
        'refuses a kubeconfig that is valid for years',
        { name: 'a', user: 'a', lifetime: '10000h' },
        'kubeconfigs[0].lifetime',
        'at most 8760h',
      ],
      [
        'refuses a kubeconfig that is replaced all the time',
        { name: 'a', user: 'a', lifetime: '1m' },
        'kubeconfigs[0].lifetime',
        'at least 10m',
      ],
      [
        'refuses a kubeconfig without a name for its Secret',
        { name: 'A_b', user: 'a' },
        'kubeconfigs[0].name',
        undefined,
      ],
    ] as const
  ).map(([name, declared, path, because]) => ({
    name,
    spec: { kubeconfigs: [declared] },
    refused: { path: `spec.${path}`, ...(because !== undefined && { because }) },
  })),
  {
    name: 'refuses two kubeconfigs for one Secret',
    spec: {
      kubeconfigs: [
        { name: 'a', user: 'a' },
        { name: 'a', user: 'b' },
      ],
    },
    refused: { path: 'spec.kubeconfigs[1]' },
  },
  {
    name: 'refuses a readiness gate by which Ready waits for itself',
    spec: { readinessGates: [{ conditionType: 'Ready' }] },
    refused: { path: 'spec.readinessGates', because: 'Ready cannot wait for itself' },
  },
  {
    name: 'refuses a readiness gate that is no type of a condition',
    spec: { readinessGates: [{ conditionType: 'not ready' }] },
    refused: { path: 'spec.readinessGates[0].conditionType' },
  },
  {
    name: 'accepts the pods of Prometheus as readers of its metrics',
    spec: { metricsScrapers: [{ namespace: 'monitoring', podLabels: { 'app.kubernetes.io/name': 'prometheus' } }] },
  },
  {
    name: 'refuses to let all pods of a namespace read its metrics',
    spec: { metricsScrapers: [{ namespace: 'monitoring', podLabels: {} }] },
    refused: { path: 'spec.metricsScrapers[0].podLabels', because: 'name at least one label' },
  },
  {
    name: 'refuses a reader of metrics in a namespace that cannot exist',
    spec: { metricsScrapers: [{ namespace: 'Monitoring', podLabels: { app: 'a' } }] },
    refused: { path: 'spec.metricsScrapers[0].namespace' },
  },
  { name: 'accepts a version without the leading v', spec: { version: '1.33.0' } },
  { name: 'accepts a pre-release with build metadata', spec: { version: 'v1.35.0-rc.1+k0s.0' } },
  {
    name: 'refuses an invalid version',
    spec: { version: 'latest' },
    refused: { path: 'spec.version', because: 'Kubernetes version' },
  },
  {
    name: 'refuses a bare major version',
    spec: { version: 'v1' },
    refused: { path: 'spec.version', because: 'Kubernetes version' },
  },
  {
    name: 'refuses a minor that is not supported yet',
    spec: { version: 'v1.38.0' },
    refused: { path: 'spec.version', because: 'use 1.32 to 1.37' },
  },
  {
    name: 'refuses a minor that is not supported any more',
    spec: { version: 'v1.31.9' },
    refused: { path: 'spec.version', because: 'use 1.32 to 1.37' },
  },
  {
    name: 'refuses another major version',
    spec: { version: 'v2.36.0' },
    refused: { path: 'spec.version', because: 'use 1.32 to 1.37' },
  },
  ...(
    [
      ['a size', 'etcd.volumeSize', { etcd: { autoGrow: false, volumeSize: '100x' } }, 'a quantity such as 8Gi'],
      [
        'an amount',
        'coredns.resources.limits.memory',
        { coredns: { resources: { limits: { memory: '1 Gi' } } } },
        'a quantity such as 8Gi',
      ],
      [
        'an amount with a limit',
        'coredns.resources.requests.memory',
        { coredns: { resources: { requests: { memory: '1 Gi' }, limits: { memory: '2Gi' } } } },
        'a quantity such as 8Gi',
      ],
      [
        'a size beside a quota',
        'etcd.maxVolumeSize',
        { etcd: { maxVolumeSize: '16 Gi', args: { 'quota-backend-bytes': '4294967296' } } },
        'a quantity such as 8Gi',
      ],
      ['an exponent', 'etcd.maxVolumeSize', { etcd: { maxVolumeSize: '1e.5' } }, 'a quantity such as 8Gi'],
      [
        'a number of days',
        'certificates.leafCertificateDuration',
        { certificates: { leafCertificateDuration: '30d' } },
        'a duration such as 1h30m',
      ],
      ['a version of etcd', 'etcd.version', { etcd: { version: '3.6' } }, 'an etcd version such as 3.6.16'],
      ['a registry', 'imageRegistry', { imageRegistry: 'https://a.example' }, 'without scheme'],
      [
        'a time zone',
        'maintenance.timeZone',
        { maintenance: { timeZone: 'Berlin, Europe' } },
        'IANA time zone such as',
      ],
      ['a backup', 'etcd.restore.backup', { etcd: { restore: { backup: 'newest' } } }, 'the name of a backup such as'],
    ] as const
  ).map(([what, path, spec, because]) => ({
    name: `refuses ${what} of another form with a sentence`,
    spec,
    refused: { path: `spec.${path}`, because },
  })),
  { name: 'refuses a spec without version', spec: { version: undefined }, refused: { path: 'spec.version' } },
  { name: 'refuses a number that is text', spec: { replicas: 'two' }, refused: { path: 'spec.replicas' } },
  { name: 'refuses zero API servers', spec: { replicas: 0 }, refused: { path: 'spec.replicas' } },
  {
    name: 'refuses zero controller managers',
    spec: { deployment: { controllerManager: { replicas: 0 } } },
    refused: { path: 'spec.deployment.controllerManager.replicas' },
  },
  {
    name: 'refuses zero schedulers',
    spec: { deployment: { scheduler: { replicas: 0 } } },
    refused: { path: 'spec.deployment.scheduler.replicas' },
  },
  {
    name: 'refuses zero pods of CoreDNS, which can be disabled',
    spec: { coredns: { replicas: 0 } },
    refused: { path: 'spec.coredns.replicas' },
  },
  {
    name: 'refuses zero konnectivity agents, which can be disabled',
    spec: { konnectivityClient: { replicas: 0 } },
    refused: { path: 'spec.konnectivityClient.replicas' },
  },
  ...['--v', '-v', 'V', 'event_ttl', 'event ttl', 'v=2', ''].map((flag) => ({
    name: `refuses a flag with the name "${flag}"`,
    spec: apiServerPod({ args: { [flag]: '2' } }),
    refused: { path: 'spec.deployment.apiServer.args', because: 'the name of a flag' },
  })),
  {
    name: 'refuses the name of a flag of every other component',
    spec: { coredns: { args: { 'dns.port': '53', '--v': '2' } } },
    refused: { path: 'spec.coredns.args', because: 'the name of a flag' },
  },
  {
    name: 'accepts the names of flags',
    spec: { coredns: { args: { 'dns.port': '53', v: '2', 'event-ttl': '--1h' } } },
  },

  { name: 'accepts a gateway under exposure', spec: { exposure: { gateway } } },
  { name: 'accepts node ports', spec: { exposure: { nodePort } } },
  {
    name: 'refuses a spec without an exposure strategy',
    spec: { exposure: undefined },
    refused: { path: 'spec', because: exposureNeeded },
  },
  {
    name: 'refuses an empty exposure',
    spec: { exposure: {} },
    refused: { path: 'spec', because: exposureNeeded },
  },
  {
    name: 'refuses two exposure strategies',
    spec: { exposure: { loadBalancer: {}, nodePort } },
    refused: { path: 'spec', because: exposureNeeded },
  },
  {
    name: 'refuses the gateway shorthand beside another exposure strategy',
    spec: { gateway },
    refused: { path: 'spec', because: exposureNeeded },
  },
  {
    name: 'refuses a gateway without namespace',
    spec: { exposure: undefined, gateway: { name: 'capi' } },
    refused: { path: 'spec.gateway.namespace' },
  },
  {
    name: 'refuses a node port outside the usual range',
    spec: { exposure: { nodePort: { ...nodePort, port: 6443 } } },
    refused: { path: 'spec.exposure.nodePort.port' },
  },
  {
    name: 'refuses node ports without an address',
    spec: { exposure: { nodePort: { ...nodePort, address: undefined } } },
    refused: { path: 'spec.exposure.nodePort.address' },
  },
  { name: 'accepts an ingress with two host names', spec: { exposure: { ingress } } },
  {
    name: 'accepts an ingress with all fields',
    spec: {
      exposure: {
        ingress: {
          ...ingress,
          tunnelHost: 'tunnel.example.org',
          port: 8443,
          controller: 'traefik',
          className: 'edge',
          annotations: { 'example.org/a': 'b' },
          deploy: false,
        },
      },
    },
  },
  {
    name: 'refuses an ingress with the same konnectivity host and API host',
    spec: { exposure: { ingress: { ...ingress, konnectivityHost: ingress.apiHost } } },
    refused: { path: 'spec.exposure.ingress', because: 'must be three different names' },
  },
  {
    name: 'refuses an ingress with the same tunnel host and API host',
    spec: { exposure: { ingress: { ...ingress, tunnelHost: ingress.apiHost } } },
    refused: { path: 'spec.exposure.ingress', because: 'must be three different names' },
  },
  {
    name: 'refuses an ingress with the same tunnel host and konnectivity host',
    spec: { exposure: { ingress: { ...ingress, tunnelHost: ingress.konnectivityHost } } },
    refused: { path: 'spec.exposure.ingress', because: 'must be three different names' },
  },
  {
    name: 'refuses an ingress whose konnectivity host is the default tunnel host',
    spec: { exposure: { ingress: { ...ingress, konnectivityHost: `tunnel.${ingress.apiHost}` } } },
    refused: { path: 'spec.exposure.ingress', because: 'must be three different names' },
  },
  {
    name: 'refuses an ingress without konnectivity host',
    spec: { exposure: { ingress: { apiHost: ingress.apiHost } } },
    refused: { path: 'spec.exposure.ingress.konnectivityHost' },
  },
  {
    name: 'refuses host names in upper case',
    spec: { exposure: { ingress: { ...ingress, apiHost: 'API.example.org' } } },
    refused: { path: 'spec.exposure.ingress.apiHost' },
  },
  {
    name: 'refuses an unknown ingress controller',
    spec: { exposure: { ingress: { ...ingress, controller: 'envoy' } } },
    refused: { path: 'spec.exposure.ingress.controller' },
  },
  {
    name: 'refuses an empty endpoint',
    spec: { controlPlaneEndpoint: {} },
    refused: { path: 'spec.controlPlaneEndpoint' },
  },

  { name: 'accepts a single etcd member', spec: { etcd: { replicas: 1 } } },
  {
    name: 'refuses an even number of etcd members',
    spec: { etcd: { replicas: 2 } },
    refused: { path: 'spec.etcd.replicas' },
  },
  { name: 'accepts a fixed volume size', spec: { etcd: { autoGrow: false, volumeSize: '8Gi' } } },
  { name: 'accepts a volume size given as a number', spec: { etcd: { autoGrow: false, volumeSize: 8589934592 } } },
  { name: 'accepts a volume size of zero as unset', spec: { etcd: { volumeSize: 0 } } },
  {
    name: 'refuses a volume size while volumes grow automatically',
    spec: { etcd: { volumeSize: '8Gi' } },
    refused: { path: 'spec.etcd', because: 'volumeSize cannot be combined with autoGrow' },
  },
  {
    name: 'refuses fixed volumes without a size',
    spec: { etcd: { autoGrow: false } },
    refused: { path: 'spec.etcd', because: 'autoGrow: false needs a size' },
  },
  {
    name: 'refuses an invalid volume size',
    spec: { etcd: { autoGrow: false, volumeSize: '8 gigabytes' } },
    refused: { path: 'spec.etcd.volumeSize' },
  },
  {
    name: 'refuses an etcd version without patch version',
    spec: { etcd: { version: '3.6' } },
    refused: { path: 'spec.etcd.version' },
  },
  {
    name: 'accepts an etcd version beside a tag of the same minor',
    spec: { etcd: { version: '3.6.8', image: { tag: 'v3.6.16-hardened' } } },
  },
  {
    name: 'accepts an etcd version beside a tag that is none',
    spec: { etcd: { version: '3.6.8', image: { tag: 'stable' } } },
  },
  {
    name: 'refuses an etcd version beside a tag of another minor',
    spec: { etcd: { version: '3.6.8', image: { tag: '3.5.26-0' } } },
    refused: { path: 'spec.etcd.version', because: 'version and image.tag name different minors' },
  },
  { name: 'accepts a nightly backup', spec: { etcd: { backup: { schedule: '@daily', secret: s3 } } } },
  {
    name: 'accepts a backup schedule with steps and ranges',
    spec: { etcd: { backup: { schedule: '*/15 6-22 * * 1-5', secret: s3 } } },
  },
  {
    name: 'accepts an hourly and a weekly schedule',
    spec: { etcd: { backup: { schedule: '@hourly', secret: s3, verify: { schedule: '@weekly' } } } },
  },
  {
    name: 'refuses a schedule outside the clock',
    spec: { etcd: { backup: { schedule: '0 24 * * *', secret: s3 } } },
    refused: { path: 'spec.etcd.backup.schedule', because: 'five cron fields such as "30 2 * * *"' },
  },
  {
    name: 'refuses a schedule in words',
    spec: { etcd: { backup: { schedule: 'every day', secret: s3 } } },
    refused: { path: 'spec.etcd.backup.schedule', because: 'must be @hourly, @daily, @weekly or five cron fields' },
  },

  { name: 'accepts the CA lifetimes of the reference provider', spec: { certificates: caDurations('48h', '48h') } },
  { name: 'accepts a shorter root CA alone', spec: { certificates: { rootCaCertificateDuration: '8760h' } } },
  {
    name: 'refuses an intermediate CA that outlives the root CA',
    spec: { certificates: caDurations('48h', '72h') },
    refused: { path: 'spec.certificates', because: 'caCertificateDuration must not be longer' },
  },
  {
    name: 'refuses a CA that outlives the default root CA',
    spec: { certificates: { caCertificateDuration: '175200h' } },
    refused: { path: 'spec.certificates', because: 'caCertificateDuration must not be longer' },
  },
  {
    name: 'refuses a leaf that outlives its CA',
    spec: { certificates: { rootCaCertificateDuration: '48h', leafCertificateDuration: '48h' } },
    refused: {
      path: 'spec.certificates',
      because: 'leafCertificateDuration must be shorter than rootCaCertificateDuration',
    },
  },
  {
    name: 'refuses a CA lifetime below a day',
    spec: { certificates: { rootCaCertificateDuration: '23h59m' } },
    refused: { path: 'spec.certificates.rootCaCertificateDuration', because: 'at least 24h' },
  },
  {
    name: 'refuses a leaf lifetime below an hour',
    spec: { certificates: { leafCertificateDuration: '59m', shortLived: true } },
    refused: { path: 'spec.certificates.leafCertificateDuration', because: 'at least 1h' },
  },
  {
    name: 'accepts leaf certificates with a week between renewal and expiry',
    spec: { certificates: { leafCertificateDuration: '420h' } },
  },
  {
    name: 'refuses leaf certificates with less than a week between renewal and expiry',
    spec: { certificates: { leafCertificateDuration: '419h59m', shortLived: false } },
    refused: { path: 'spec.certificates', because: 'or set shortLived: true' },
  },
  {
    name: 'accepts leaf certificates of an hour with shortLived',
    spec: { certificates: { leafCertificateDuration: '1h', shortLived: true } },
  },
  {
    name: 'refuses a duration in days',
    spec: { certificates: { rootCaCertificateDuration: '365d' } },
    refused: { path: 'spec.certificates.rootCaCertificateDuration' },
  },

  { name: 'accepts token issuers', spec: { oidcProviders: { 'https://issuer.example.org': issuer } } },
  {
    name: 'accepts the service accounts of the management cluster',
    spec: { oidcProviders: { 'https://kubernetes.default.svc.cluster.local': issuer } },
  },

  {
    name: 'accepts a mounted ConfigMap',
    spec: apiServerPod({ mounts: { extra: { path: '/extra', configMap: { name: 'extra' } } } }),
  },
  {
    name: 'refuses a mount without a source',
    spec: apiServerPod({ mounts: { extra: { path: '/extra' } } }),
    refused: { path: 'spec.deployment.apiServer.mounts.extra', because: 'exactly one source' },
  },
  {
    name: 'refuses a mount with two sources',
    spec: apiServerPod({
      mounts: { extra: { path: '/extra', configMap: { name: 'a' }, secret: { secretName: 'b' } } },
    }),
    refused: { path: 'spec.deployment.apiServer.mounts.extra', because: 'exactly one source' },
  },
  {
    name: 'refuses a mount whose name is not a volume name',
    spec: apiServerPod({ mounts: { Extra_Files: { path: '/extra', configMap: { name: 'a' } } } }),
    refused: { path: 'spec.deployment.apiServer.mounts', because: 'rename the mount' },
  },
  {
    name: 'refuses two mounts at one path',
    spec: apiServerPod({
      mounts: { a: { path: '/extra', configMap: { name: 'a' } }, b: { path: '/extra', secret: { secretName: 'b' } } },
    }),
    refused: { path: 'spec.deployment.apiServer.mounts', because: 'same path' },
  },
  {
    name: 'refuses two mounts at one path, one of them with a slash at its end',
    spec: apiServerPod({
      mounts: { a: { path: '/extra', configMap: { name: 'a' } }, b: { path: '/extra/', secret: { secretName: 'b' } } },
    }),
    refused: { path: 'spec.deployment.apiServer.mounts', because: 'same path' },
  },
  {
    name: 'refuses a relative mount path',
    spec: apiServerPod({ mounts: { extra: { path: 'extra', configMap: { name: 'a' } } } }),
    refused: { path: 'spec.deployment.apiServer.mounts.extra.path' },
  },
  {
    name: 'accepts an audit policy as in a file, sent to a webhook',
    spec: apiServerPod({
      audit: {
        policy: {
          apiVersion: 'audit.k8s.io/v1',
          kind: 'Policy',
          metadata: { creationTimestamp: '2026-01-01T00:00:00Z', name: 'ours' },
          omitStages: ['RequestReceived'],
          rules: [
            { level: 'None', users: ['system:kube-proxy'], resources: [{ group: '', resources: ['endpoints'] }] },
            { level: 'Metadata' },
          ],
        },
        mode: 'blocking',
        webhook: { targets: [{ server: 'https://audit.example.org/k8s', authentication: { secretName: 'token' } }] },
      },
    }),
  },
  ...['ftp://a.example.org', 'https://user@a.example.org', 'https://a.example.org?a=b', 'a.example.org'].map(
    (server) => ({
      name: `refuses the audit receiver ${server}`,
      spec: apiServerPod({ audit: { policy: { rules: [] }, webhook: { targets: [{ server }] } } }),
      refused: { path: 'spec.deployment.apiServer.audit.webhook.targets[0].server' },
    }),
  ),
  {
    name: 'refuses to send the token of an audit receiver in clear',
    spec: apiServerPod({
      audit: {
        policy: { rules: [] },
        webhook: { targets: [{ server: 'http://a.example.org', authentication: { secretName: 'a' } }] },
      },
    }),
    refused: { path: 'spec.deployment.apiServer.audit.webhook.targets[0].server', because: 'over https only' },
  },
  {
    name: 'refuses an audit webhook without targets',
    spec: apiServerPod({ audit: { policy: { rules: [] }, webhook: { targets: [] } } }),
    refused: { path: 'spec.deployment.apiServer.audit.webhook.targets' },
  },
  {
    name: 'accepts resources as numbers and as text',
    spec: {
      deployment: { scheduler: { resources: { requests: { cpu: 1, memory: '64Mi' }, limits: { memory: '1.5Gi' } } } },
    },
  },
  {
    name: 'refuses a request above its limit',
    spec: { coredns: { resources: { requests: { cpu: '1500m', memory: '1Gi' }, limits: { cpu: 1 } } } },
    refused: { path: 'spec.coredns.resources.requests', because: 'cannot be larger than its limit' },
  },
  {
    name: 'accepts a request of exactly its limit',
    spec: { coredns: { resources: { requests: { cpu: '1000m' }, limits: { cpu: 1 } } } },
  },
  {
    name: 'refuses a negative amount of a resource',
    spec: { coredns: { resources: { limits: { cpu: '-1' } } } },
    refused: { path: 'spec.coredns.resources.limits', because: 'cannot be negative' },
  },
  {
    name: 'refuses an image tag with a space',
    spec: { coredns: { image: { tag: 'v1 ' } } },
    refused: { path: 'spec.coredns.image.tag' },
  },
  {
    name: 'accepts a tag with a digest',
    spec: { coredns: { image: { tag: `v1.14.2@sha256:${'0'.repeat(64)}` } } },
  },
  {
    name: 'refuses a priority class that is no name',
    spec: { coredns: { priorityClassName: 'Upper_Case' } },
    refused: { path: 'spec.coredns.priorityClassName' },
  },
  {
    name: 'refuses a storage class that is no name',
    spec: { etcd: { storageClassName: 'Upper_Case' } },
    refused: { path: 'spec.etcd.storageClassName' },
  },
  {
    name: 'refuses a file outside of its mount',
    spec: apiServerPod({
      mounts: { a: { path: '/a', configMap: { name: 'a', items: [{ key: 'a', path: '../a' }] } } },
    }),
    refused: { path: 'spec.deployment.apiServer.mounts.a.configMap.items[0].path' },
  },
  {
    name: 'accepts hidden files of a mount',
    spec: apiServerPod({
      mounts: { a: { path: '/a', configMap: { name: 'a', items: [{ key: '.a', path: 'b/.a' }] } } },
    }),
  },
  {
    name: 'refuses one node port for both servers',
    spec: { exposure: { nodePort: { ...nodePort, konnectivityPort: nodePort.port } } },
    refused: { path: 'spec.exposure.nodePort.konnectivityPort', because: 'must differ' },
  },
  {
    name: 'refuses volumes of at most nothing',
    spec: { etcd: { maxVolumeSize: 0 } },
    refused: { path: 'spec.etcd.maxVolumeSize', because: 'more than 0' },
  },
  {
    name: 'refuses resource claims, which no pod declares',
    spec: { coredns: { resources: { claims: [{ name: 'gpu' }] } } },
    refused: { path: 'spec.coredns.resources.claims', because: 'declare no claims' },
  },
  { name: 'accepts an empty list of resource claims', spec: { coredns: { resources: { claims: [] } } } },
  {
    name: 'accepts extra names for the serving certificate',
    spec: { apiServer: { certSANs: ['api.example.org', '2001:db8::1'] } },
  },
  {
    name: 'refuses a URL as a name for the serving certificate',
    spec: { apiServer: { certSANs: ['https://api.example.org'] } },
    refused: { path: 'spec.apiServer.certSANs[0]' },
  },
  {
    name: 'accepts additions to pods, as in Kubernetes',
    spec: {
      deployment: {
        defaults: {
          labels: { 'example.org/team': 'a', 'app.kubernetes.io/part-of': 'platform' },
          annotations: { 'sidecar.istio.io/inject': 'false' },
          nodeSelector: { 'node-role.kubernetes.io/control-planes': '' },
          tolerations: [
            { operator: 'Exists', effect: 'NoSchedule' },
            { key: 'dedicated', value: 'a' },
          ],
          env: [{ name: 'GOMEMLIMIT', value: '1GiB' }, { name: 'EMPTY' }],
          imagePullSecrets: [{ name: 'registry' }],
          priorityClassName: 'clusters',
          affinity: {
            nodeAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [exists] }] },
            },
            podAntiAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [
                { weight: 10, podAffinityTerm: { topologyKey: 'zone', labelSelector: { matchExpressions: [exists] } } },
              ],
            },
          },
          topologySpreadConstraints: [
            { topologyKey: 'kubernetes.io/hostname', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' },
            { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule', minDomains: 2 },
          ],
        },
      },
    },
  },
  ...refusedAdditions([
    ['a label key with two slashes', { labels: { 'a/b/c': 'd' } }, '.labels', 'the key of a label'],
    ['a label that no manifest can have', { labels: { constructor: 'a' } }, '.labels', 'the key of a label'],
    [
      'an annotation that no manifest can have',
      { annotations: { constructor: 'a' } },
      '.annotations',
      'the key of an annotation',
    ],
    [
      'a node selector that no manifest can have',
      { nodeSelector: { constructor: 'a' } },
      '.nodeSelector',
      'the key of a label',
    ],
    ['a label value with a space', { labels: { a: 'b c' } }, '.labels.a', ''],
    [
      'a label by which pods are found',
      { labels: { 'app.kubernetes.io/component': 'etcd' } },
      '.labels',
      'cannot be set',
    ],
    ['a label of Cluster API', { labels: { 'controlplane.cluster.x-k8s.io/a': 'b' } }, '.labels', 'cannot be set'],
    [
      'an annotation of the operator',
      { annotations: { 'controlplane.cluster.x-k8s.io/version': 'v1' } },
      '.annotations',
      'cannot be set',
    ],
    [
      'an annotation that turns AppArmor off',
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/etcd': 'unconfined' } },
      '.annotations',
      'restricted Pod Security Standard',
    ],
    [
      'an annotation that attaches another network',
      { annotations: { 'k8s.v1.cni.cncf.io/networks': 'storage' } },
      '.annotations',
      'network policies',
    ],
    ['a node selector of an invalid key', { nodeSelector: { '-a': 'b' } }, '.nodeSelector', 'the key of a label'],
    ['a variable of the operator', { env: [{ name: 'POD_NAME', value: 'a' }] }, '.env', 'sets'],
    ['a variable with a strange name', { env: [{ name: '1=2', value: 'a' }] }, '.env[0].name', ''],
    ['a toleration of everything by value', { tolerations: [{ value: 'a' }] }, '.tolerations[0].operator', 'Exists'],
    [
      'a toleration of any value with a value',
      { tolerations: [{ key: 'a', operator: 'Exists', value: 'b' }] },
      '.tolerations[0].value',
      'has no value',
    ],
    [
      'seconds of a toleration that never evicts',
      { tolerations: [{ key: 'a', effect: 'NoSchedule', tolerationSeconds: 3 }] },
      '.tolerations[0].tolerationSeconds',
      'NoExecute',
    ],
    [
      'places that count without being required',
      {
        topologySpreadConstraints: [
          { topologyKey: 'a', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', minDomains: 2 },
        ],
      },
      '.topologySpreadConstraints[0].minDomains',
      'DoNotSchedule',
    ],
  ]),
  { name: 'accepts a registry with port and path', spec: { imageRegistry: 'mirror.example.org:5000/a/b-c' } },
  {
    name: 'refuses a registry with a scheme',
    spec: { imageRegistry: 'https://mirror.example.org' },
    refused: { path: 'spec.imageRegistry' },
  },
  {
    name: 'refuses a requirement of nodes without values',
    spec: apiServerPod({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    }),
    refused: {
      path: 'spec.deployment.apiServer.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values',
      because: 'at least one value',
    },
  },
  {
    name: 'refuses values of a requirement of pods that takes none',
    spec: apiServerPod({
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'zone', labelSelector: { matchExpressions: [{ ...exists, values: ['a'] }] } },
          ],
        },
      },
    }),
    refused: {
      path: 'spec.deployment.apiServer.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values',
      because: 'Exists and DoesNotExist none',
    },
  },
  {
    name: 'accepts an issuer of service account tokens, and others besides it',
    spec: {
      serviceAccountIssuer: {
        issuer: 'https://[2001:db8::1]:6443/clusters/c-1',
        acceptedIssuers: ['https://kubernetes.default.svc', 'http://before.example.org/', 'kubernetes/serviceaccount'],
      },
      oidcProviders: { 'https://issuer.example.org': issuer },
    },
  },
  ...['http://a.example.org', 'a', 'https://a.example.org?b', 'https://a.example.org,https://b', 'https://a:b'].map(
    (own): AdmissionCase => ({
      name: `refuses to issue service account tokens as ${own}`,
      spec: { serviceAccountIssuer: { issuer: own } },
      refused: { path: 'spec.serviceAccountIssuer.issuer' },
    }),
  ),
  ...['', 'a b', 'a,b', 'a:b', 'https://a b'].map((own): AdmissionCase => ({
    name: `refuses to accept service account tokens of '${own}'`,
    spec: { serviceAccountIssuer: { acceptedIssuers: [own] } },
    refused: { path: 'spec.serviceAccountIssuer.acceptedIssuers[0]' },
  })),
  ...[{ issuer: 'https://a.example.org' }, { acceptedIssuers: ['b', 'https://a.example.org'] }].map(
    (serviceAccountIssuer): AdmissionCase => ({
      name: `refuses a token issuer that is of service accounts: ${JSON.stringify(serviceAccountIssuer)}`,
      spec: { serviceAccountIssuer, oidcProviders: { 'https://a.example.org': issuer } },
      refused: { path: 'spec.oidcProviders', because: "cluster's own service accounts" },
    }),
  ),
  {
    name: 'refuses variables that etcd ignores',
    spec: { etcd: { env: [{ name: 'ETCD_DEBUG', value: 'true' }] } },
    refused: { path: 'spec.etcd.env', because: 'use args' },
  },
  {
    name: 'refuses to run etcd members on one node',
    spec: {
      etcd: {
        topologySpreadConstraints: [
          { topologyKey: 'kubernetes.io/hostname', maxSkew: 3, whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
    },
    refused: { path: 'spec.etcd.topologySpreadConstraints', because: 'different nodes' },
  },
];

const endpoint = { host: 'api.example.org', port: 6443 };

const signingInAt = (tokenServiceURL: string) => {
  const webIdentity = { roleARN: 'any', serviceAccountName: 'backup', tokenServiceURL };
  return { etcd: { backup: { schedule: '@daily', secret: s3, webIdentity } } };
};

export const updateCases: readonly UpdateCase[] = [
  ...valueUpdateCases,
  {
    name: 'refuses a version without patch release',
    from: {},
    spec: { version: 'v1.34' },
    refused: { path: 'spec.version', because: 'names no patch release' },
  },
  {
    name: 'refuses a policy for in-cluster access before its minor',
    from: { version: 'v1.33.13' },
    spec: { version: 'v1.33.13', inClusterAccess: 'Policy' },
    refused: { path: 'spec.inClusterAccess', because: 'needs Kubernetes 1.34' },
  },
  {
    name: 'accepts proxies for in-cluster access before that minor',
    from: { version: 'v1.33.13' },
    spec: { version: 'v1.33.13', inClusterAccess: 'Proxy' },
  },
  {
    name: 'accepts a policy for in-cluster access together with its minor',
    from: { version: 'v1.33.13' },
    spec: { version: 'v1.34.10', inClusterAccess: 'Policy' },
  },
  ...['https://c1.team.example.org', 'https://kubernetes.default.svc.cluster.local'].map((own): UpdateCase => ({
    name: `refuses the issuer ${own} of the hosted cluster's own service accounts`,
    from: {},
    status: { serviceAccountIssuer: own },
    spec: { oidcProviders: { [own]: issuer } },
    refused: { path: 'spec.oidcProviders', because: 'own service accounts' },
  })),
  {
    name: "accepts another issuer than that of the hosted cluster's own service accounts",
    from: {},
    status: { serviceAccountIssuer: 'https://c1.team.example.org' },
    spec: { oidcProviders: { 'https://kubernetes.default.svc.cluster.local': issuer } },
  },
  {
    name: 'refuses another issuer of service account tokens without the former one',
    from: {},
    status: { serviceAccountIssuer: 'https://c1.team.example.org' },
    spec: { serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://b.example.org'] } },
    refused: {
      path: 'spec.serviceAccountIssuer.acceptedIssuers',
      because: 'lacks the present issuer, https://c1.team.example.org',
    },
  },
  {
    name: 'refuses to remove the former issuer while it still signs',
    from: {
      serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://c1.team.example.org'] },
    },
    status: { serviceAccountIssuer: 'https://c1.team.example.org' },
    spec: { serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://b.example.org'] } },
    refused: { path: 'spec.serviceAccountIssuer.acceptedIssuers', because: 'lacks the present issuer' },
  },
  {
    name: 'accepts another issuer of service account tokens with the former one',
    from: {},
    status: { serviceAccountIssuer: 'https://c1.team.example.org' },
    spec: {
      serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://c1.team.example.org'] },
    },
  },
  {
    name: 'accepts to remove a former issuer of service account tokens',
    from: {
      serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://c1.team.example.org'] },
    },
    status: { serviceAccountIssuer: 'https://a.example.org' },
    spec: { serviceAccountIssuer: { issuer: 'https://a.example.org', acceptedIssuers: ['https://b.example.org'] } },
  },
  {
    name: 'accepts an issuer of service account tokens while none has signed',
    from: {},
    spec: { serviceAccountIssuer: { issuer: 'https://a.example.org' } },
  },
  { name: 'accepts a token service with https', from: {}, spec: signingInAt('https://sts.example.org') },
  {
    name: 'refuses a token service without https',
    from: {},
    spec: signingInAt('http://sts.example.org'),
    refused: { path: 'spec.etcd.backup.webIdentity.tokenServiceURL', because: 'must begin with https://' },
  },
  { name: 'accepts the next patch release', from: { version: 'v1.34.2' }, spec: { version: 'v1.34.3' } },
  { name: 'accepts the next minor', from: { version: 'v1.34.2' }, spec: { version: 'v1.35.0' } },
  { name: 'accepts another spelling of the same version', from: { version: 'v1.34.2' }, spec: { version: '1.34.2' } },
  {
    name: 'accepts the release after its pre-release',
    from: { version: 'v1.35.0-rc.1' },
    spec: { version: 'v1.35.0' },
  },
  { name: 'accepts an older patch release', from: { version: 'v1.34.10' }, spec: { version: 'v1.34.9' } },
  {
    name: 'accepts an older patch release while the newer one runs',
    from: { version: 'v1.34.10' },
    status: runs('v1.34.10'),
    spec: { version: 'v1.34.9' },
  },
  { name: 'accepts an older minor before anything runs', from: { version: 'v1.34.2' }, spec: { version: 'v1.33.9' } },
  {
    name: 'accepts an older minor while nothing of the newer one runs',
    from: { version: 'v1.35.0' },
    status: runs('v1.34.2'),
    spec: { version: 'v1.34.9' },
  },
  {
    name: 'refuses an older minor while something of the newer one runs',
    from: { version: 'v1.35.0' },
    status: runs('v1.34.2', 'v1.35.0'),
    spec: { version: 'v1.34.2' },
    refused: { path: 'spec.version', because: 'cannot go back to v1.34.2, because an API server runs v1.35.0' },
  },
  {
    name: 'refuses an older minor than the one that runs',
    from: { version: 'v1.34.2' },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9' },
    refused: { path: 'spec.version', because: 'run hcp rollback' },
  },
  {
    name: 'accepts an older minor together with the restore of a named backup',
    from: { version: 'v1.34.2' },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: { restore: { backup } } },
  },
  {
    name: 'refuses an older minor together with the restore of whatever backup is the newest',
    from: { version: 'v1.34.2' },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: { restore: { latest: true } } },
    refused: { path: 'spec.version', because: 'run hcp rollback' },
  },
  {
    name: 'refuses an older minor together with a snapshot that does not say its version',
    from: { version: 'v1.34.2' },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: { restore: { backup: 'final.etcd' } } },
    refused: { path: 'spec.version', because: 'run hcp rollback' },
  },
  {
    name: 'refuses an older minor beside an earlier restore',
    from: { version: 'v1.34.2', etcd: { restore: { backup } } },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: { restore: { backup } } },
    refused: { path: 'spec.version', because: 'run hcp rollback' },
  },
  {
    name: 'refuses to withdraw the restore alone on the way back to an older minor',
    from: { version: 'v1.33.9', etcd: { restore: { backup } } },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: {} },
    refused: { path: 'spec.version', because: 'run hcp rollback' },
  },
  {
    name: 'accepts to withdraw the way back to an older minor with its restore',
    from: { version: 'v1.33.9', etcd: { restore: { backup } } },
    status: runs('v1.34.2'),
    spec: { version: 'v1.34.2', etcd: {} },
  },
  {
    name: 'accepts other changes on the way back to an older minor',
    from: { version: 'v1.33.9', etcd: { restore: { backup } } },
    status: runs('v1.34.2'),
    spec: { version: 'v1.33.9', etcd: { restore: { backup } }, replicas: 3 },
  },
  { name: 'accepts to skip a minor before anything runs', from: { version: 'v1.33.1' }, spec: { version: 'v1.35.0' } },
  {
    name: 'refuses to skip a minor',
    from: { version: 'v1.33.1' },
    status: runs('v1.33.1'),
    spec: { version: 'v1.35.0' },
    refused: { path: 'spec.version', because: 'more than one minor ahead of v1.33.1' },
  },
  {
    name: 'refuses to skip a minor in two quick steps',
    from: { version: 'v1.34.2' },
    status: runs('v1.33.1'),
    spec: { version: 'v1.35.0' },
    refused: { path: 'spec.version', because: 'more than one minor ahead of v1.33.1' },
  },
  {
    name: 'refuses a minor that is not supported as the next one',
    from: { version: 'v1.36.3' },
    status: runs('v1.36.3'),
    spec: { version: 'v1.38.0' },
    refused: { path: 'spec.version', because: 'does not support Kubernetes v1.38.0' },
  },
  {
    name: 'accepts other changes during an upgrade',
    from: { version: 'v1.34.2' },
    status: { version: 'v1.33.1' },
    spec: { replicas: 3 },
  },

  { name: 'accepts the endpoint being set', from: {}, spec: { controlPlaneEndpoint: endpoint } },
  {
    name: 'accepts a port that is added to the host',
    from: { controlPlaneEndpoint: { host: endpoint.host } },
    spec: { controlPlaneEndpoint: endpoint },
  },
  {
    name: 'refuses another host once the endpoint is set',
    from: { controlPlaneEndpoint: endpoint },
    spec: { controlPlaneEndpoint: { ...endpoint, host: 'other.example.org' } },
    refused: { path: 'spec.controlPlaneEndpoint', because: 'cannot change once it is set' },
  },
  {
    name: 'refuses another port once the endpoint is set',
    from: { controlPlaneEndpoint: endpoint },
    spec: { controlPlaneEndpoint: { ...endpoint, port: 443 } },
    refused: { path: 'spec.controlPlaneEndpoint', because: 'cannot change once it is set' },
  },
  {
    name: 'refuses to remove the endpoint',
    from: { controlPlaneEndpoint: endpoint },
    spec: { controlPlaneEndpoint: undefined },
    refused: { path: 'spec.controlPlaneEndpoint', because: 'cannot change once it is set' },
  },
  { name: 'accepts another exposure strategy before the endpoint is set', from: {}, spec: { exposure: { nodePort } } },
  ...(
    [
      ['a load balancer', { loadBalancer: { port: 443 } }, { loadBalancer: {} }],
      ['an ingress controller', { ingress: { ...ingress, port: 8443 } }, { ingress: { ...ingress, port: 6443 } }],
      ['the nodes', { nodePort: { ...nodePort, port: 30444 } }, { nodePort }],
    ] as const
  ).flatMap(([of, other, fitting]): UpdateCase[] => {
    const port = 'nodePort' in fitting ? nodePort.port : endpoint.port;
    const controlPlaneEndpoint = { ...endpoint, port };
    return [
      {
        name: `refuses another port of ${of} once the endpoint is set`,
        from: { controlPlaneEndpoint, exposure: fitting },
        spec: { controlPlaneEndpoint, exposure: other },
        refused: { path: 'spec.exposure', because: 'restore the port of controlPlaneEndpoint' },
      },
      {
        name: `accepts the port of the endpoint again, of ${of}`,
        from: { controlPlaneEndpoint, exposure: other },
        spec: { controlPlaneEndpoint, exposure: fitting },
      },
      {
        name: `accepts other changes beside another port of ${of} that is stored`,
        from: { controlPlaneEndpoint, exposure: other },
        spec: { controlPlaneEndpoint, exposure: other, replicas: 3 },
      },
    ];
  }),
  {
    name: 'accepts another port of a load balancer before the endpoint is set',
    from: {},
    spec: { exposure: { loadBalancer: { port: 443 } } },
  },
  {
    name: 'accepts the long form of the gateway shorthand',
    from: { controlPlaneEndpoint: endpoint, exposure: undefined, gateway },
    spec: { controlPlaneEndpoint: endpoint, exposure: { gateway } },
  },
  {
    name: 'refuses another exposure strategy once the endpoint is set',
    from: { controlPlaneEndpoint: endpoint },
    spec: { controlPlaneEndpoint: endpoint, exposure: { nodePort } },
    refused: { path: 'spec.exposure', because: 'the exposure strategy cannot change' },
  },
  {
    name: 'refuses a gateway instead of a load balancer once the endpoint is set',
    from: { controlPlaneEndpoint: endpoint },
    spec: { controlPlaneEndpoint: endpoint, exposure: undefined, gateway },
    refused: { path: 'spec.exposure', because: 'the exposure strategy cannot change' },
  },

  {
    name: 'accepts a larger volume',
    from: { etcd: { autoGrow: false, volumeSize: '8Gi' } },
    spec: { etcd: { autoGrow: false, volumeSize: '10Gi' } },
  },
  {
    name: 'refuses a smaller volume',
    from: { etcd: { autoGrow: false, volumeSize: '8Gi' } },
    spec: { etcd: { autoGrow: false, volumeSize: '8000Mi' } },
    refused: { path: 'spec.etcd.volumeSize', because: 'cannot shrink from 8Gi to 8000Mi' },
  },
  {
    name: 'refuses a fixed size below the current size of the volumes',
    from: {},
    status: { etcdVolumeSize: '12Gi' },
    spec: { etcd: { autoGrow: false, volumeSize: '10Gi' } },
    refused: { path: 'spec.etcd.volumeSize', because: 'grown to 12Gi' },
  },
  {
    name: 'accepts a fixed size that the volumes have grown to',
    from: {},
    status: { etcdVolumeSize: '12Gi' },
    spec: { etcd: { autoGrow: false, volumeSize: '12Gi' } },
  },
  {
    name: 'accepts another number of etcd members',
    from: { etcd: { replicas: 1 } },
    spec: { etcd: { replicas: 3 } },
  },
  {
    name: 'accepts the next etcd minor',
    from: { etcd: { version: '3.5.24' } },
    status: hasEtcd('3.5.24', '3.5.24'),
    spec: { etcd: { version: 'v3.6.5' } },
  },
  {
    name: 'accepts an older patch release of etcd',
    from: { etcd: { version: '3.6.9' } },
    status: hasEtcd('3.6.9'),
    spec: { etcd: { version: '3.6.5' } },
  },
  {
    name: 'accepts an older etcd minor while nothing of the newer one runs',
    from: { etcd: { version: '3.7.1' } },
    status: hasEtcd('3.6.9', '3.6.9'),
    spec: { etcd: { version: '3.6.9' } },
  },
  {
    name: 'accepts any etcd minor before a member runs',
    from: { etcd: { version: '3.5.24' } },
    status: { etcd: { members: [{ name: 'c1-etcd-0', role: 'Unreachable' }] } },
    spec: { etcd: { version: '3.7.1' } },
  },
  {
    name: 'refuses an older etcd minor than a member runs',
    from: { etcd: { version: '3.7.1' } },
    status: hasEtcd('3.6.9', '3.7.1'),
    spec: { etcd: { version: '3.6.9' } },
    refused: { path: 'spec.etcd.version', because: 'etcd would refuse its own data' },
  },
  {
    name: 'refuses an older etcd minor than the default one that runs',
    from: {},
    status: hasEtcd('3.6.5'),
    spec: { etcd: { version: '3.5.24' } },
    refused: { path: 'spec.etcd.version', because: 'etcd would refuse its own data' },
  },
  {
    name: 'refuses to skip an etcd minor',
    from: { etcd: { version: '3.5.24' } },
    status: hasEtcd('3.5.24'),
    spec: { etcd: { version: '3.7.1' } },
    refused: { path: 'spec.etcd.version', because: 'etcd would refuse its own data' },
  },
  {
    name: 'accepts another storage class before etcd has data',
    from: { etcd: { storageClassName: 'fats' } },
    status: { etcd: { members: [{ name: 'c1-etcd-0', role: 'Missing' }] } },
    spec: { etcd: { storageClassName: 'fast' } },
  },
  {
    name: 'refuses another storage class',
    from: { etcd: { storageClassName: 'fast' } },
    status: hasEtcd('3.6.5'),
    spec: { etcd: { storageClassName: 'slow' } },
    refused: { path: 'spec.etcd.storageClassName', because: 'cannot change' },
  },
  {
    name: 'refuses to remove the storage class',
    from: { etcd: { storageClassName: 'fast' } },
    status: hasEtcd('3.6.5'),
    spec: {},
    refused: { path: 'spec.etcd.storageClassName', because: 'cannot change' },
  },
];

/** The minimal spec with changes merged over it, one level deep. */
export function specWith(changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...minimalSpec, ...changes };
}

function caDurations(rootCaCertificateDuration: string, caCertificateDuration: string) {
  return { rootCaCertificateDuration, caCertificateDuration };
}

/** A status with API servers of these versions, the oldest first. */
function runs(...versions: readonly [string, ...string[]]) {
  return { version: versions[0], versions: versions.map((version) => ({ version, replicas: 1 })) };
}

/** A status with a formed etcd, by the versions of its members. */
function hasEtcd(...versions: readonly string[]) {
  const members = versions.map((version, ordinal) => ({ name: `c1-etcd-${ordinal}`, role: 'Follower', version }));
  return { etcd: { clusterID: 'cdf818194e3a8c32', members } };
}

function apiServerPod(settings: object) {
  return { deployment: { apiServer: settings } };
}

/** The same additions are refused for a component in each of the clusters, and as a default. */
function refusedAdditions(
  table: readonly (readonly [what: string, additions: object, path: string, because: string])[],
): AdmissionCase[] {
  const places = [
    ['as a default', 'deployment.defaults', (defaults: object) => ({ deployment: { defaults } })],
    ['for CoreDNS', 'coredns', (coredns: object) => ({ coredns })],
  ] as const;
  return table.flatMap(([what, additions, path, because]) =>
    places.map(([where, field, specOf]) => ({
      name: `refuses ${what}, ${where}`,
      spec: specOf(additions),
      refused: { path: `spec.${field}${path}`, because },
    })),
  );
}

/** The spec after an update. A case names only the changes, so it starts with the version of the original. */
export function changed(
  { version = minimalSpec.version }: Readonly<Record<string, unknown>>,
  spec: object,
): Record<string, unknown> {
  return specWith({ version, ...spec });
}
