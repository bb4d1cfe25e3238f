import { Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-30';
import type { Construct } from 'constructs';
import { ClusterResourceSet } from '../../../imports/addons.cluster.x-k8s.io.ts';
import { Cluster } from '../../../imports/cluster.x-k8s.io.ts';
import { ClusterStack } from '../../../imports/clusterstack.x-k8s.io.ts';
import { kubernetesVersion, minorOf } from '../../cluster/versions.ts';
import { cloudsYaml } from './add-ons.ts';
import type { CapoVersion } from './class-patch.ts';
import { workerClass } from './cluster-class.ts';
import { classNameOf, releaseName, stackNames } from './cluster-stack.ts';
import { OpenStackVariables } from './variables.ts';

export interface OpenStackHostedClusterProps {
  readonly name: string;
  readonly namespace: string;
  /** Version of Kubernetes, such as v1.34.3; its minor selects the stack. */
  readonly version: string;
  /** The stack: its own version, its namespace, and the version of CAPO's API. */
  readonly stack: { readonly version: string; readonly namespace: string; readonly capo: CapoVersion };
  /** Values of variables; unset ones have the defaults of the stack. */
  readonly variables?: OpenStackVariables;
  /** Number of API servers. @default the variable controlPlaneReplicas */
  readonly controlPlaneReplicas?: number;
  /** Groups of workers by name, with the number of each. */
  readonly workers: Readonly<Record<string, number>>;
  /** Networks of pods. @default 172.16.0.0/16 */
  readonly pods?: string[];
  /** Networks of Services. @default 10.96.0.0/12 */
  readonly services?: string[];
  /** Credentials for OpenStack: the content of a clouds.yaml. @default the Secrets exist already */
  readonly clouds?: string;
}

/** The label by which the ClusterResourceSet finds Clusters that need credentials. */
const managedSecret = { 'managed-secret': cloudsYaml };

/** What a user applies for a cluster with a hosted control plane and workers in OpenStack. */
export class OpenStackHostedCluster extends Chart {
  /** @throws for a variable that the stack does not have, or a value that it refuses */
  constructor(scope: Construct, id: string, props: OpenStackHostedClusterProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const { name, namespace, stack, clouds, workers } = props;
    const minor = minorOf(props.version);
    const { identityRef } = validVariables(props.variables ?? {});
    if (clouds !== undefined) {
      new CloudCredentials(this, 'credentials', { name: identityRef.name, namespace, clouds });
    }
    new ClusterResourceSet(this, 'clouds-yaml', {
      metadata: { name: cloudsYaml, namespace },
      spec: {
        strategy: 'Reconcile',
        clusterSelector: { matchLabels: managedSecret },
        resources: [{ kind: 'Secret', name: cloudsYaml }],
      },
    });
    new ClusterStack(this, 'cluster-stack', {
      metadata: { name: releaseName({ minor, ...stack }), namespace: stack.namespace },
      spec: {
        provider: 'openstack',
        name: stackNames[stack.capo],
        kubernetesVersion: `1.${minor}`,
        channel: 'stable',
        autoSubscribe: false,
        noProvider: true,
        versions: [stack.version],
      },
    });
    new Cluster(this, 'cluster', {
      metadata: { name, namespace, labels: managedSecret },
      spec: {
        clusterNetwork: {
          pods: { cidrBlocks: props.pods ?? ['172.16.0.0/16'] },
          services: { cidrBlocks: props.services ?? ['10.96.0.0/12'] },
          serviceDomain: 'cluster.local',
        },
        topology: {
          classRef: { name: classNameOf({ minor, ...stack }), namespace: stack.namespace },
          version: kubernetesVersion(props.version),
          ...(props.controlPlaneReplicas !== undefined && { controlPlane: { replicas: props.controlPlaneReplicas } }),
          workers: {
            machineDeployments: Object.entries(workers).map(([group, replicas]) => ({
              class: workerClass,
              name: group,
              replicas,
            })),
          },
          // Only what is set: the defaults stay with the ClusterClass, which may change them.
          variables: Object.entries(props.variables ?? {}).map(([variable, value]) => ({ name: variable, value })),
        },
      },
    });
  }
}

interface CloudCredentialsProps {
  /** Name of the Secret for CAPO. */
  readonly name: string;
  readonly namespace: string;
  readonly clouds: string;
}

/** The credentials twice: for CAPO, and wrapped in another Secret for the hosted cluster's add-ons. */
class CloudCredentials extends k8s.KubeSecret {
  constructor(scope: Construct, id: string, { name, namespace, clouds }: CloudCredentialsProps) {
    const data = { 'clouds.yaml': Buffer.from(clouds).toString('base64') };
    super(scope, id, { metadata: { name, namespace }, data });
    const forAddOns = k8s.KubeSecret.manifest({ metadata: { name: cloudsYaml, namespace: 'kube-system' }, data });
    new k8s.KubeSecret(this, 'wrapped', {
      metadata: { name: cloudsYaml, namespace },
      type: 'addons.cluster.x-k8s.io/resource-set',
      data: { [cloudsYaml]: Buffer.from(JSON.stringify(forAddOns)).toString('base64') },
    });
  }
}

function validVariables(given: OpenStackVariables) {
  const variables = OpenStackVariables.parse(given);
  const { apiServerLoadBalancer } = variables;
  if (apiServerLoadBalancer !== 'none') {
    throw new Error(
      `apiServerLoadBalancer is ${apiServerLoadBalancer}, whose address CAPO takes as the endpoint although no API server is behind it: remove the variable`,
    );
  }
  return variables;
}
