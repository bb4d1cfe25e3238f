import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { definedOnly } from '../cluster/defined-only.ts';
import { defaultPlatformLists } from '../cluster/platform-lists.ts';
import { resourceRequirements, oneMoreAtATime } from '../pod/component.ts';
import { unprivileged } from '../pod/restricted-pod.ts';
import {
  managerSelector,
  metricsPort,
  metricsPortName,
  providerLabels,
  providerNames,
} from '../cluster/provider-names.ts';

/** Volume where the operator notes what it has in hand, for the process after this one. */
const notes = 'notes';

/** Port of the operator's health endpoints. */
export const healthPort = 8081;

/**
 * Settings of Node.js. The chunks of a stream are small on the heap but large outside it, and are freed when the young
 * generation is full. With Node's default of 16 MiB an upload needs 100 MB above idle, with 2 MiB it needs 30 MB.
 */
export const nodeOptions = '--max-semi-space-size=2';

/** The same for `OPTIMIZE_FOR=speed`: what lives shortly is collected before it gets old. */
export const nodeOptionsForSpeed = '--max-semi-space-size=16';

/** Environment variables of the operator, with their default values, so that an administrator sees what can be set. */
export const managerEnvironment: Readonly<Record<string, string>> = {
  ADOPTION_CONCURRENCY: '1',
  ALLOWED_DESTINATIONS: '',
  DENIED_CIDRS: '',
  INGRESS_ANNOTATIONS: defaultPlatformLists.ingressAnnotations.join(','),
  INGRESS_CLASSES: defaultPlatformLists.ingressClasses.join(','),
  LEADER_ELECTION: 'true',
  LOAD_BALANCER_ANNOTATIONS: defaultPlatformLists.loadBalancerAnnotations.join(','),
  LOAD_BALANCER_CLASSES: defaultPlatformLists.loadBalancerClasses.join(','),
  LOG_FORMAT: 'json',
  LOG_LEVEL: 'info',
  MAX_CONCURRENT_RECONCILES: '10',
  NODE_OPTIONS: nodeOptions,
  OPTIMIZE_FOR: 'auto',
};

/**
 * Settings of the C library, which return freed memory to the system. With its default of eight pools for each processor,
 * freed memory stays in pools that no thread uses: 5 MiB with two clusters. Node allocates most of what it frees at once, while
 * it compiles, in blocks of 32 KiB: below the C library's threshold for blocks of their own they leave gaps of 24 MiB.
 */
export const mallocSettings: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '32768',
};

/** Resources of the operator's container. */
export const managerResources: ManagerResources = {
  requests: { cpu: '100m', memory: '256Mi' },
  // A runaway ends this pod, and no other one of the node. Some 700 control planes fit: the figures are in test/tools/bench/README.md.
  limits: { memory: '1Gi' },
};

/** Amounts by resource, as a manifest has them. */
export interface ManagerResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

/** Cluster API's own providers also run there, and many management clusters have no other nodes. */
export const managerTolerations: readonly k8s.Toleration[] = [
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
];

/** Node agents and Cluster API's own providers have it: the operator is not evicted for other pods. */
export const managerPriorityClass = 'system-cluster-critical';

/** What an administrator decides about the operator's pods. */
export interface ManagerSettings {
  /** Number of pods. One of them is active. @default 2 */
  readonly replicas?: number;
  /** Further arguments, as SETTINGS.md of this folder documents them. @default none */
  readonly args?: readonly string[];
  /** Environment variables, instead of the default ones. @default {@link managerEnvironment} */
  readonly environment?: Readonly<Record<string, string>>;
  /** @default {@link managerResources} */
  readonly resources?: ManagerResources;
  /** Secrets for the registry of the image. @default none */
  readonly imagePullSecrets?: readonly k8s.LocalObjectReference[];
  /** @default any node */
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** @default {@link managerTolerations} */
  readonly tolerations?: readonly k8s.Toleration[];
  /** @default none; pods prefer different nodes anyway */
  readonly affinity?: k8s.Affinity;
  /** @default {@link managerPriorityClass} */
  readonly priorityClassName?: string;
}

export interface ManagerProps {
  readonly namespace: string;
  readonly image: string;
  /** The only namespace of control planes. @default all */
  readonly watchNamespace?: string | undefined;
  readonly settings?: ManagerSettings | undefined;
}

/** The operator: one active pod. Another one, on another node if there is one, has its caches filled and waits. */
export class Manager extends Construct {
  constructor(scope: Construct, id: string, { namespace, image, watchNamespace, settings = {} }: ManagerProps) {
    super(scope, id);
    const { replicas = 2, priorityClassName = managerPriorityClass, tolerations = managerTolerations } = settings;
    const { affinity, imagePullSecrets, nodeSelector } = settings;
    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { name: providerNames.manager, namespace, labels: { ...managerSelector } },
      spec: {
        replicas,
        selector: { matchLabels: { ...managerSelector } },
        // The new pod has filled its caches before the old one releases the lease.
        strategy: oneMoreAtATime,
        template: {
          metadata: { labels: { ...providerLabels, ...managerSelector } },
          spec: {
            serviceAccountName: providerNames.serviceAccount,
            automountServiceAccountToken: true,
            enableServiceLinks: false,
            // As process 1 of a namespace the operator could not end itself when its event loop stands still: from inside the kernel
            // delivers no SIGKILL to it.
            shareProcessNamespace: true,
            // Requests in progress are completed. The longest one takes half a minute.
            terminationGracePeriodSeconds: 45,
            securityContext: unprivileged,
            ...definedOnly({ affinity, imagePullSecrets: imagePullSecrets && [...imagePullSecrets], nodeSelector }),
            priorityClassName,
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: 'kubernetes.io/hostname',
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: { ...managerSelector } },
              },
            ],
            tolerations: [...tolerations],
            containers: [container(image, watchNamespace, settings)],
            // It outlives containers of the pod, and is lost with its node, whose crash has no cause in a control plane.
            volumes: [{ name: notes, emptyDir: { medium: 'Memory', sizeLimit: k8s.Quantity.fromString('4Mi') } }],
          },
        },
      },
    });
  }
}

function container(
  image: string,
  watchNamespace: string | undefined,
  { args: further = [], environment = managerEnvironment, resources = managerResources }: ManagerSettings,
): k8s.Container {
  const namespace = watchNamespace === undefined ? [] : ['--namespace', watchNamespace];
  const args = [`--secure-metrics-port=${metricsPort}`, `--notes=/${notes}`, ...namespace, ...further];
  return {
    // clusterctl finds the container whose image may be overridden by this name.
    name: 'manager',
    image,
    imagePullPolicy: 'IfNotPresent',
    args,
    env: [
      { name: 'CONTROLLER_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ...Object.entries({
        ...mallocSettings,
        ...environment,
        NODE_OPTIONS: environment['NODE_OPTIONS'] ?? nodeOptions,
      }).map(([name, value]) => ({
        name,
        value,
      })),
    ],
    ports: [
      { name: 'health', containerPort: healthPort, protocol: 'TCP' },
      { name: metricsPortName, containerPort: metricsPort, protocol: 'TCP' },
    ],
    // Ready means that all caches are filled. The time for that depends on the number of control planes, so only the
    // liveness probe restarts the pod: when watches have received nothing, or the queue has done nothing, for ten minutes.
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 6 },
    resources: resourceRequirements(resources),
    volumeMounts: [{ name: notes, mountPath: `/${notes}` }],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
    // The last lines of an operator that ends with an error are in the status of its pod.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function probe(path: string): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromString('health') }, timeoutSeconds: 5 };
}
