import { ApiObject, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { KubeadmConfigTemplate } from '../../../imports/bootstrap.cluster.x-k8s.io.ts';
import { Cluster, ClusterClass } from '../../../imports/cluster.x-k8s.io.ts';
import { HostedControlPlaneTemplate } from '../../api/resources.ts';
import { clusterNetwork } from './cluster.ts';
import { numericVariable, variable } from './variables.ts';

/** Name of the class, and of its file after `clusterclass-`. */
export const className = 'hosted-control-plane';

/** The one class of workers. */
const workerClass = 'default-worker';

const { apiVersion, kind } = HostedControlPlaneTemplate;

/** By the variable `gateway` of a Cluster: the template has no exposure strategy, and one of both patches adds one. */
const patches = [
  {
    name: 'gateway',
    enabledIf: '{{ if .gateway.name }}true{{ end }}',
    path: '/gateway',
    from: { variable: 'gateway' },
  },
  {
    name: 'loadBalancer',
    enabledIf: '{{ if not .gateway.name }}true{{ end }}',
    path: '/exposure',
    from: { template: 'loadBalancer: {}' },
  },
];

/**
 * A ClusterClass with hosted control planes for any infrastructure provider, with variables for clusterctl. Templates of that
 * provider are not part of it: they have the name of the class.
 */
export class HostedClusterClass extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    const metadata = { name: className, namespace: variable('NAMESPACE') };
    const infrastructure = (kindOf: string) => ({
      apiVersion: `${variable('INFRASTRUCTURE_GROUP')}/${variable('INFRASTRUCTURE_VERSION')}`,
      kind: `${variable('INFRASTRUCTURE')}${kindOf}`,
      name: className,
    });
    const selector = { apiVersion, kind, matchResources: { controlPlane: true } };
    new ClusterClass(this, 'cluster-class', {
      metadata,
      spec: {
        controlPlane: {
          templateRef: { apiVersion, kind, name: className },
          naming: { template: '{{ .cluster.name }}-cp' },
        },
        infrastructure: { templateRef: infrastructure('ClusterTemplate') },
        workers: {
          machineDeployments: [
            {
              class: workerClass,
              bootstrap: { templateRef: { ...KubeadmConfigTemplate.GVK, name: className } },
              infrastructure: { templateRef: infrastructure('MachineTemplate') },
            },
          ],
        },
        variables: [
          {
            name: 'gateway',
            required: false,
            schema: {
              openApiv3Schema: {
                type: 'object',
                description: 'Gateway that the control plane shares. Without a name it has a load balancer of its own.',
                default: {},
                properties: {
                  name: { type: 'string', default: '', maxLength: 253 },
                  namespace: { type: 'string', default: 'default', minLength: 1, maxLength: 63 },
                },
              },
            },
          },
        ],
        patches: patches.map(({ name, enabledIf, path, from }) => ({
          name,
          enabledIf,
          definitions: [
            { selector, jsonPatches: [{ op: 'add', path: `/spec/template/spec${path}`, valueFrom: from }] },
          ],
        })),
      },
    });
    new ApiObject(this, 'control-plane-template', { apiVersion, kind, metadata, spec: { template: { spec: {} } } });
    new KubeadmConfigTemplate(this, 'worker-config', {
      metadata,
      // The default, because an empty spec is refused.
      spec: { template: { spec: { format: 'cloud-config' } } },
    });
  }
}

/** A Cluster of that class, with variables for clusterctl. */
export class ClassedClusterTemplate extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    new Cluster(this, 'cluster', {
      metadata: { name: variable('CLUSTER_NAME'), namespace: variable('NAMESPACE') },
      spec: {
        clusterNetwork: clusterNetwork(),
        topology: {
          classRef: { name: className },
          version: variable('KUBERNETES_VERSION'),
          controlPlane: { replicas: numericVariable('CONTROL_PLANE_MACHINE_COUNT') },
          workers: {
            machineDeployments: [
              { class: workerClass, name: 'md-0', replicas: numericVariable('WORKER_MACHINE_COUNT') },
            ],
          },
        },
      },
    });
  }
}
