import { App, type Chart } from 'cdk8s';
import { manifest } from '../../cluster/manifest.ts';
import type { StackFile } from '../../helm/chart.ts';
import { className, ClassedClusterTemplate, HostedClusterClass } from './cluster-class.ts';
import { ClusterTemplate } from './cluster.ts';

/** What a user creates beside a template. */
const infrastructureNote = 'Add the objects of your infrastructure provider';

interface TemplateFile {
  /** Name as clusterctl expects it: `cluster-template-FLAVOR.yaml`, or `clusterclass-NAME.yaml`. */
  readonly path: string;
  readonly purpose: readonly string[];
  readonly chart: (app: App) => Chart;
}

const templateFiles: readonly TemplateFile[] = [
  {
    path: 'cluster-template.yaml',
    purpose: [
      'A template for `clusterctl generate cluster`: a hosted control plane with a load balancer of its own, and workers.',
      `${infrastructureNote}, under the name of the cluster.`,
    ],
    chart: (app) => new ClusterTemplate(app, 'template', 'loadBalancer'),
  },
  {
    path: 'cluster-template-gateway.yaml',
    purpose: [
      'A template for `clusterctl generate cluster`: a hosted control plane behind a Gateway, and workers.',
      `${infrastructureNote}, under the name of the cluster.`,
    ],
    chart: (app) => new ClusterTemplate(app, 'template', 'gateway'),
  },
  {
    path: 'cluster-template-class.yaml',
    purpose: [
      `A template for \`clusterctl generate cluster\`: a cluster of the ClusterClass in clusterclass-${className}.yaml.`,
    ],
    chart: (app) => new ClassedClusterTemplate(app, 'template'),
  },
  {
    path: `clusterclass-${className}.yaml`,
    purpose: [
      'A template for `clusterctl generate yaml`: a ClusterClass with hosted control planes, for any infrastructure provider.',
      `${infrastructureNote}, their templates under the name of the class.`,
    ],
    chart: (app) => new HostedClusterClass(app, 'class'),
  },
];

/** The templates of a release for clusterctl, by their names in the release. */
export function clusterctlTemplates(): StackFile[] {
  return templateFiles.map(({ path, purpose, chart }) => ({
    path,
    content: manifest(purpose, chart(new App()).toJson() as object[]),
  }));
}
