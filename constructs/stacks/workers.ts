import type { Construct } from 'constructs';
import { KubeadmConfigTemplate } from '../../imports/bootstrap.cluster.x-k8s.io.ts';
import { MachineDeployment } from '../../imports/cluster.x-k8s.io.ts';
import { clusterNameLabel } from '../api/group.ts';
import { groupOf } from '../api/resources.ts';

export interface WorkersProps {
  readonly metadata: { readonly name: string; readonly namespace: string };
  /** Name of the Cluster that they join. */
  readonly clusterName: string;
  /** Version of Kubernetes, such as v1.34.3. */
  readonly version: string;
  readonly replicas: number;
  /** Where the infrastructure provider creates the machines; by default it decides. */
  readonly failureDomain?: string;
  /** Name of the KubeadmConfigTemplate by which the machines join. */
  readonly bootstrap: string;
  /** The template of the infrastructure provider. */
  readonly infrastructure: { readonly apiGroup: string; readonly kind: string; readonly name: string };
}

/** Workers of a hosted cluster that join with kubeadm: a MachineDeployment. */
export class Workers extends MachineDeployment {
  constructor(scope: Construct, id: string, props: WorkersProps) {
    const { metadata, clusterName, version, replicas, failureDomain, bootstrap, infrastructure } = props;
    const labels = { [clusterNameLabel]: clusterName };
    const configRef = {
      apiGroup: groupOf(KubeadmConfigTemplate.GVK),
      kind: KubeadmConfigTemplate.GVK.kind,
      name: bootstrap,
    };
    super(scope, id, {
      metadata,
      spec: {
        clusterName,
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            clusterName,
            version,
            ...(failureDomain === undefined ? {} : { failureDomain }),
            bootstrap: { configRef },
            infrastructureRef: infrastructure,
          },
        },
      },
    });
  }
}
