import { Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { ClusterDeployment, ClusterTemplate } from '../../../imports/k0rdent.mirantis.com.ts';
import { hetznerChart } from './chart.ts';
import { type GivenHetznerValues, HetznerValues } from './values.ts';

/** Name of the ClusterTemplate: kcm's templates carry the version of their chart. */
export const hetznerTemplate = `${hetznerChart.name}-${hetznerChart.version.replaceAll('.', '-')}`;

export interface HetznerClusterTemplateProps {
  /** Namespace of kcm. @default kcm-system */
  readonly namespace?: string;
  /** HelmRepository that has the chart. */
  readonly repository: string;
}

/** The chart as a template of kcm. */
export class HetznerClusterTemplate extends Chart {
  constructor(scope: Construct, id: string, { namespace = 'kcm-system', repository }: HetznerClusterTemplateProps) {
    super(scope, id, { disableResourceNameHashes: true });
    new ClusterTemplate(this, 'template', {
      metadata: { name: hetznerTemplate, namespace },
      spec: {
        helm: {
          chartSpec: {
            chart: hetznerChart.name,
            version: hetznerChart.version,
            interval: '10m',
            sourceRef: { kind: 'HelmRepository', name: repository },
          },
        },
      },
    });
  }
}

export interface HetznerClusterDeploymentProps {
  readonly name: string;
  /** @default kcm-system */
  readonly namespace?: string;
  /** Credential of kcm. */
  readonly credential: string;
  readonly config: GivenHetznerValues;
}

/** A cluster of the template. */
export class HetznerClusterDeployment extends Chart {
  /** @throws for a config that the chart refuses */
  constructor(scope: Construct, id: string, props: HetznerClusterDeploymentProps) {
    super(scope, id, { disableResourceNameHashes: true });
    const { name, namespace = 'kcm-system', credential, config } = props;
    HetznerValues.parse(config);
    new ClusterDeployment(this, 'deployment', {
      metadata: { name, namespace },
      spec: { template: hetznerTemplate, credential, config },
    });
  }
}
