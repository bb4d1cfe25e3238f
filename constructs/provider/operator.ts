import { k8s } from 'cdk8s-plus-30';
import { Construct } from 'constructs';
import { unprivileged } from '../pod/unprivileged.ts';
import { managerSelector, providerLabels, providerNames } from '../cluster/provider-names.ts';

/** Port of the operator's health endpoints. */
const healthPort = 8081;

/** Port of the operator's metrics. */
const metricsPort = 8080;

/** What the operator reads from its environment, with the defaults it has anyway: a person sees what can be set. */
export const managerEnvironment: Readonly<Record<string, string>> = {
  LEADER_ELECTION: 'true',
  LOG_FORMAT: 'json',
  LOG_LEVEL: 'info',
  MAX_CONCURRENT_RECONCILES: '10',
};

/**
 * Settings of Node itself. The chunks of a stream are small on the heap and large beside it, and go when the young
 * generation is full: with Node's 16 MiB an upload takes 100 MB above rest, with 2 MiB it takes 30.
 */
export const nodeOptions = '--max-semi-space-size=2';

export interface ManagerProps {
  readonly namespace: string;
  readonly image: string;
}

/** The operator: one pod that works; a second one, during an upgrade, waits for the lease. */
export class Manager extends Construct {
  constructor(scope: Construct, id: string, { namespace, image }: ManagerProps) {
    super(scope, id);
    new k8s.KubeDeployment(this, 'deployment', {
      metadata: { name: providerNames.manager, namespace, labels: { ...managerSelector } },
      spec: {
        replicas: 1,
        selector: { matchLabels: { ...managerSelector } },
        // The new one has seen everything before the old one hands the lease over.
        strategy: {
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: k8s.IntOrString.fromNumber(1), maxUnavailable: k8s.IntOrString.fromNumber(0) },
        },
        template: {
          metadata: { labels: { ...providerLabels, ...managerSelector } },
          spec: {
            serviceAccountName: providerNames.serviceAccount,
            automountServiceAccountToken: true,
            enableServiceLinks: false,
            // What has begun is finished: the longest request takes half a minute.
            terminationGracePeriodSeconds: 45,
            securityContext: unprivileged,
            // Where Cluster API's own providers run: many management clusters have no other nodes.
            tolerations: [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' }],
            containers: [container(image)],
          },
        },
      },
    });
  }
}

function container(image: string): k8s.Container {
  return {
    // The name by which clusterctl finds the container whose image may be overridden.
    name: 'manager',
    image,
    imagePullPolicy: 'IfNotPresent',
    env: [
      { name: 'CONTROLLER_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'NODE_OPTIONS', value: nodeOptions },
      ...Object.entries(managerEnvironment).map(([name, value]) => ({ name, value })),
    ],
    ports: [
      { name: 'health', containerPort: healthPort, protocol: 'TCP' },
      { name: 'metrics', containerPort: metricsPort, protocol: 'TCP' },
    ],
    // Ready means: has seen everything once. That takes as long as the fleet is large, so only liveness restarts.
    readinessProbe: { ...probe('/readyz'), periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe('/healthz'), periodSeconds: 10, failureThreshold: 6 },
    resources: {
      requests: { cpu: k8s.Quantity.fromString('100m'), memory: k8s.Quantity.fromString('256Mi') },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      privileged: false,
      readOnlyRootFilesystem: true,
    },
  };
}

function probe(path: string): k8s.Probe {
  return { httpGet: { path, port: k8s.IntOrString.fromString('health') }, timeoutSeconds: 5 };
}
