import { k8s } from 'cdk8s-plus-30';
import type { Container, Pod } from '../api/pod-spec.ts';
import { definedOnly } from './defined.ts';
import { type ComponentName, objectLabels, selectorLabels } from './labels.ts';

/** Unprivileged user and group of every container; the number distroless images use for `nonroot`. */
const nonRoot = 65532;

/** Annotation of API server pods with `spec.version` as it was when they were rendered. */
export const versionAnnotation = 'controlplane.cluster.x-k8s.io/version';

/** Annotation with the certificates and configuration that a pod reads only when it starts. */
export const restartsWithAnnotation = 'controlplane.cluster.x-k8s.io/restarts-with';

export interface PodTemplateProps {
  readonly cluster: string;
  readonly component: ComponentName;
  readonly containers: k8s.Container[];
  readonly volumes: k8s.Volume[];
  /** The user's settings for this component, if any. */
  readonly pod: Pod | undefined;
  /** What the pod reads only at its start, by name: a change of any value replaces the pod. */
  readonly restartsWith?: Readonly<Record<string, string>>;
  /** Says which Kubernetes version a pod runs, whatever its image is called; see {@link versionAnnotation}. */
  readonly version?: string;
  /** Count only pods of one revision when spreading: true for Deployments, whose surge would otherwise not fit. */
  readonly spreadPerRevision: boolean;
}

/** The pod template every workload of ours uses: no API token, PodSecurity "restricted", spread over nodes and zones. */
export function podTemplate(props: PodTemplateProps): k8s.PodTemplateSpec {
  const { cluster, component } = props;
  const spread = (topologyKey: string, whenUnsatisfiable: string): k8s.TopologySpreadConstraint => ({
    topologyKey,
    maxSkew: 1,
    whenUnsatisfiable,
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Honor',
    labelSelector: { matchLabels: selectorLabels(cluster, component) },
    ...(props.spreadPerRevision ? { matchLabelKeys: ['pod-template-hash'] } : {}),
  });
  const restartsWith = Object.entries(props.restartsWith ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const annotations = definedOnly({
    [versionAnnotation]: props.version,
    [restartsWithAnnotation]: restartsWith.map((pair) => pair.join('=')).join(',') || undefined,
  });
  return {
    metadata: {
      labels: objectLabels(cluster, component),
      ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: nonRoot,
        runAsGroup: nonRoot,
        fsGroup: nonRoot,
        // Without it the kubelet walks and chowns the whole etcd volume at every start.
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      topologySpreadConstraints: [
        spread('kubernetes.io/hostname', 'DoNotSchedule'),
        spread('topology.kubernetes.io/zone', 'ScheduleAnyway'),
      ],
      ...definedOnly({ priorityClassName: props.pod?.priorityClassName }),
      containers: props.containers,
      volumes: props.volumes,
    },
  };
}

export interface ContainerProps {
  readonly name: string;
  readonly image: string;
  readonly command: string[];
  readonly args: string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly probes: Probes;
  readonly volumeMounts: k8s.VolumeMount[];
  readonly env?: k8s.EnvVar[];
  /** Used when the user sets no resources: enough to be scheduled sensibly, no limit that could kill it. */
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly settings: Container | undefined;
  /** Capabilities kept; only those that PodSecurity "restricted" allows. */
  readonly capabilities?: string[];
}

/** A container as PodSecurity "restricted" wants it, with probes, resources and a read-only root file system. */
export function container(props: ContainerProps): k8s.Container {
  return {
    name: props.name,
    image: props.image,
    imagePullPolicy: props.settings?.imagePullPolicy ?? 'IfNotPresent',
    command: props.command,
    args: props.args,
    ...definedOnly({ env: props.env }),
    ports: Object.entries(props.ports).map(([name, containerPort]) => ({ name, containerPort, protocol: 'TCP' })),
    ...props.probes,
    resources: resources(props),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], ...(props.capabilities ? { add: props.capabilities } : {}) },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
    volumeMounts: props.volumeMounts,
  };
}

function resources({ settings, requests }: ContainerProps): k8s.ResourceRequirements {
  const quantities = (given: Readonly<Record<string, string | number>> | undefined) =>
    given &&
    Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        typeof value === 'number' ? k8s.Quantity.fromNumber(value) : k8s.Quantity.fromString(value),
      ]),
    );
  if (!settings?.resources) return { requests: quantities(requests)! };
  const { requests: requested, limits, claims } = settings.resources;
  return definedOnly({ requests: quantities(requested), limits: quantities(limits), claims });
}

export interface Probes {
  readonly startupProbe: k8s.Probe;
  readonly readinessProbe: k8s.Probe;
  readonly livenessProbe: k8s.Probe;
}

export interface ProbesProps {
  readonly port: string;
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly startup: string;
  readonly readiness: string;
  readonly liveness: string;
  /** Seconds between readiness probes. */
  readonly readinessPeriodSeconds: number;
}

/**
 * Start-up is probed every second: with the usual ten, three components in a row wait half a minute for nothing.
 * Four minutes of failing start-up probes restart the container.
 */
export function probes(props: ProbesProps): Probes {
  const httpGet = (path: string): k8s.HttpGetAction => ({
    path,
    port: k8s.IntOrString.fromString(props.port),
    scheme: props.scheme,
  });
  return {
    startupProbe: { httpGet: httpGet(props.startup), periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 240 },
    readinessProbe: {
      httpGet: httpGet(props.readiness),
      periodSeconds: props.readinessPeriodSeconds,
      timeoutSeconds: 15,
      failureThreshold: 3,
    },
    livenessProbe: { httpGet: httpGet(props.liveness), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
  };
}

/** A volume that shows chosen keys of several Secrets and ConfigMaps as files of one directory. */
export function projected(name: string, sources: readonly ProjectedSource[]): k8s.Volume {
  return {
    name,
    projected: {
      // Group-readable through fsGroup; the default 0644 would let any user of the pod read keys.
      defaultMode: 0o440,
      sources: sources.map((source) => {
        const items = Object.entries(source.items).map(([path, key]) => ({ key, path }));
        return 'secret' in source
          ? { secret: { name: source.secret, items } }
          : { configMap: { name: source.configMap, items } };
      }),
    },
  };
}

/** `items` maps a file path to the key it shows. */
export type ProjectedSource =
  | { readonly secret: string; readonly items: Readonly<Record<string, string>> }
  | { readonly configMap: string; readonly items: Readonly<Record<string, string>> };
