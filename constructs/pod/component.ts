import { k8s } from 'cdk8s-plus-30';
import type { Container } from '../api/pod-spec.ts';
import { isMore } from '../api/quantity.ts';
import type { HostedCluster } from '../cluster/cluster.ts';
import { definedOnly } from '../cluster/defined-only.ts';
import { type ComponentName, objectLabels, selectorLabels } from '../cluster/labels.ts';
import type { Additions } from './additions.ts';
import { insideOf } from './no-proxy.ts';
import { withAdditions } from './overlay.ts';
import { restrictedPod, type RestrictedPodProps } from './restricted-pod.ts';

/** Annotation of API server pods with the `spec.version` for which they were rendered. */
export const versionAnnotation = 'controlplane.cluster.x-k8s.io/version';

/** Annotation of API server pods with the version of their binaries, while these emulate an earlier minor. */
export const binariesAnnotation = 'controlplane.cluster.x-k8s.io/binaries';

/** Annotation with the certificates and configuration that a pod reads only when it starts. */
export const restartsWithAnnotation = 'controlplane.cluster.x-k8s.io/restarts-with';

export interface PodTemplateProps extends Omit<RestrictedPodProps, 'selector' | 'near'> {
  readonly cluster: HostedCluster;
  readonly component: ComponentName;
  /** The component to which it connects most; its nodes are preferred. @default none */
  readonly near?: ComponentName;
  /** The user's settings of this component, which come on top of the defaults of all components. */
  readonly settings: Additions;
  /** Input that the pod reads only when it starts, by name. A change of any value replaces the pod. */
  readonly restartsWith?: Readonly<Record<string, string>>;
  /** Kubernetes version of the pod, independent of the name of its image; see {@link versionAnnotation}. */
  readonly version?: string;
  /** See {@link binariesAnnotation}. */
  readonly binaries?: string | undefined;
}

/** The pod template of every workload in the management cluster. */
export function podTemplate(props: PodTemplateProps): k8s.PodTemplateSpec {
  const { cluster, component, near, initContainers, containers, volumes, spreadPerRevision, settings } = props;
  const annotations = definedOnly({
    [versionAnnotation]: props.version,
    [binariesAnnotation]: props.binaries,
    [restartsWithAnnotation]: restartsWith(props.restartsWith),
  });
  const selector = selectorLabels(cluster.name, component);
  return withAdditions(
    {
      metadata: {
        labels: objectLabels(cluster.name, component),
        ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
      },
      spec: restrictedPod({
        selector,
        initContainers,
        containers,
        volumes,
        spreadPerRevision,
        ...definedOnly({ near: near && selectorLabels(cluster.name, near) }),
      }),
    },
    [cluster.spec.deployment.defaults, settings],
    { keepsNodes: component === 'etcd', inside: insideOf(cluster) },
  );
}

/** {@link restartsWithAnnotation} as a part of a pod template's metadata; empty without facts. */
export function restartMetadata(facts: Readonly<Record<string, string>>): Pick<k8s.ObjectMeta, 'annotations'> {
  const value = restartsWith(facts);
  return value === undefined ? {} : { annotations: { [restartsWithAnnotation]: value } };
}

/** The value of {@link restartsWithAnnotation}; undefined without facts. */
export function restartsWith(facts: Readonly<Record<string, string>> = {}): string | undefined {
  const sorted = Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map((pair) => pair.join('=')).join(',') || undefined;
}

export interface ContainerProps {
  readonly name: string;
  readonly image: string;
  readonly command: string[];
  readonly args: string[];
  readonly ports?: Readonly<Record<string, number>>;
  readonly udpPorts?: Readonly<Record<string, number>>;
  /** @default none: for steps, which run to completion */
  readonly probes?: Pick<Probes, 'readinessProbe' | 'livenessProbe'> & Partial<Probes>;
  readonly volumeMounts: k8s.VolumeMount[];
  readonly env?: k8s.EnvVar[];
  /** Used when the user sets no resources: enough for scheduling, and no limit that could kill the container. */
  readonly requests: { readonly cpu: string; readonly memory: string };
  readonly settings: Container | undefined;
  /** Capabilities to keep; only those that PodSecurity "restricted" allows. */
  readonly capabilities?: string[];
}

/** A container that meets PodSecurity "restricted", with probes, resources and a read-only root file system. */
export function container(props: ContainerProps): k8s.Container {
  return {
    name: props.name,
    image: props.image,
    imagePullPolicy: props.settings?.imagePullPolicy ?? 'IfNotPresent',
    command: props.command,
    args: props.args,
    ...definedOnly({ env: props.env }),
    ...(props.ports || props.udpPorts
      ? { ports: [...containerPorts('TCP', props.ports), ...containerPorts('UDP', props.udpPorts)] }
      : {}),
    ...props.probes,
    resources: resources(props),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], ...(props.capabilities ? { add: props.capabilities } : {}) },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
    // The last lines of a failed process contain the cause: users and the operator read them in the pod's status.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: props.volumeMounts,
  };
}

function containerPorts(protocol: string, ports: Readonly<Record<string, number>> = {}): k8s.ContainerPort[] {
  return Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort, protocol }));
}

/** Amounts as a manifest has them, such as `100m` or 2, as quantities. */
type Amounts = Readonly<Record<string, string | number>>;

function resources({ settings, requests }: ContainerProps): k8s.ResourceRequirements {
  if (!settings?.resources) return { requests: quantities(requests) };
  return resourceRequirements(settings.resources);
}

/**
 * Resources of a container that helps a component: as little as it needs is reserved, and it may use what the component
 * may. A namespace whose quota counts limits, and so refuses containers without them, then admits both.
 */
export function helperResources(
  requests: Quantities,
  component: Container['resources'],
): { readonly requests: Quantities; readonly limits?: Quantities } {
  const limits = Object.fromEntries(
    ['cpu', 'memory'].flatMap((resource) => {
      const limit = component?.limits?.[resource];
      return limit === undefined ? [] : [[resource, limit]];
    }),
  );
  const least = Object.entries(requests).map(([resource, amount]) => {
    const limit = limits[resource];
    return [resource, limit !== undefined && isMore(amount, limit) ? limit : amount];
  });
  return { requests: Object.fromEntries(least), ...(Object.keys(limits).length > 0 ? { limits } : {}) };
}

type Quantities = Readonly<Record<string, string>>;

/** What a container requests and may use at most. */
export function resourceRequirements({
  requests,
  limits,
}: {
  readonly requests?: Amounts | undefined;
  readonly limits?: Amounts | undefined;
}): k8s.ResourceRequirements {
  return definedOnly({ requests: requests && quantities(requests), limits: limits && quantities(limits) });
}

function quantities(given: Amounts): Record<string, k8s.Quantity> {
  const amounts = Object.entries(given).map(([name, value]) => [
    name,
    typeof value === 'number' ? k8s.Quantity.fromNumber(value) : k8s.Quantity.fromString(value),
  ]);
  return Object.fromEntries(amounts) as Record<string, k8s.Quantity>;
}

/** Replaces the pods of a Deployment one at a time, and never has fewer than requested. */
export const oneMoreAtATime: k8s.DeploymentStrategy = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
};

export interface Probes {
  readonly startupProbe: k8s.Probe;
  readonly readinessProbe: k8s.Probe;
  readonly livenessProbe: k8s.Probe;
}

export interface ProbesProps {
  /** Name of a port of the container, or the number of another port. */
  readonly port: string | number;
  /** Address to probe. Default: that of the pod. */
  readonly host?: string;
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly startup: string;
  readonly readiness: string;
  readonly liveness: string;
  /** Seconds between readiness probes. */
  readonly readinessPeriodSeconds: number;
  /** The kubelet restarts the container after so many seconds of failing start-up probes. Default: four minutes. */
  readonly startupLimitSeconds?: number;
}

/** Start-up is probed every second. With the usual ten seconds, three components in sequence lose half a minute. */
export function probes(props: ProbesProps): Probes {
  const httpGet = (path: string): k8s.HttpGetAction => ({
    path,
    port:
      typeof props.port === 'number' ? k8s.IntOrString.fromNumber(props.port) : k8s.IntOrString.fromString(props.port),
    ...definedOnly({ host: props.host }),
    scheme: props.scheme,
  });
  return {
    startupProbe: {
      httpGet: httpGet(props.startup),
      periodSeconds: 1,
      timeoutSeconds: 15,
      failureThreshold: props.startupLimitSeconds ?? 240,
    },
    readinessProbe: {
      httpGet: httpGet(props.readiness),
      periodSeconds: props.readinessPeriodSeconds,
      timeoutSeconds: 15,
      failureThreshold: 3,
    },
    livenessProbe: { httpGet: httpGet(props.liveness), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
  };
}

/** Probes of a program that says only by `/healthz`, without TLS, that it works. */
export function healthzProbes(port: string, readinessPeriodSeconds = 5): Probes {
  const path = '/healthz';
  return probes({ port, scheme: 'HTTP', startup: path, readiness: path, liveness: path, readinessPeriodSeconds });
}

/** A volume that projects selected keys of several Secrets and ConfigMaps into one directory. */
export function projected(name: string, sources: readonly ProjectedSource[]): k8s.Volume {
  return {
    name,
    projected: {
      // Readable for the group through fsGroup. The default 0644 would let any user of the pod read keys.
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

/** `items` maps a file path to a key. */
export type ProjectedSource =
  | { readonly secret: string; readonly items: Readonly<Record<string, string>> }
  | { readonly configMap: string; readonly items: Readonly<Record<string, string>> };
