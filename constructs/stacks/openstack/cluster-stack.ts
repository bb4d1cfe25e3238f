import { App } from 'cdk8s';
import { manifest } from '../../cluster/manifest.ts';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { chartFile, chartTemplate, type StackFile } from '../../helm/chart.ts';
import { addOnFiles, addOnStages } from './add-ons.ts';
import type { CapoVersion } from './class-patch.ts';
import { OpenStackClusterClass } from './cluster-class.ts';
import { stackMinor } from './minors.ts';

/** A cluster stack: the files from which `csctl` makes a release of one Kubernetes minor. */
export interface OpenStackClusterStack {
  /** The minor of Kubernetes 1, such as 34. */
  readonly minor: number;
  /** Version of the stack itself, such as v1. */
  readonly version: string;
  /** Version of CAPO's API. */
  readonly capo: CapoVersion;
}

/** Names of the stacks by the version of CAPO's API. Both can be installed in one management cluster. */
export const stackNames = {
  v1beta1: 'hosted-control-plane',
  v1beta2: 'hosted-control-plane-v1beta2',
} as const satisfies Readonly<Record<CapoVersion, string>>;

/** The name of the stack's Helm release, which distinguishes minors too. */
export function releaseName({ minor, capo }: Pick<OpenStackClusterStack, 'minor' | 'capo'>): string {
  return `openstack-${stackNames[capo]}-1-${minor}`;
}

/** The name of the ClusterClass that the cluster stack operator creates from a stack. */
export function classNameOf(stack: OpenStackClusterStack): string {
  return `${releaseName(stack)}-${stack.version}`;
}

/** Stands for the name of the ClusterClass until Helm fills it in. */
const className = 'name-of-the-cluster-class';

/** The files of a stack, by their paths in the folder of the stack. @throws for a minor without a stack */
export function clusterStackFiles(stack: OpenStackClusterStack): StackFile[] {
  const { minor, version, capo } = stack;
  const row = stackMinor(minor);
  const { charts } = row;
  const classChart = [
    chartFile({
      name: `${releaseName(stack)}-cluster-class`,
      version,
      description: `The ClusterClass of hosted control planes with workers in OpenStack, for Kubernetes 1.${minor}.`,
    }),
    { path: 'values.yaml', content: manifest(['No values: the ClusterClass has variables.'], [{}]) },
    {
      path: '.helmignore',
      content:
        '# Files that are not part of the chart.\n# Written by `npm run synth`; edit the constructs instead.\n.git\n*.swp\n',
    },
    ...classTemplates(capo),
  ];
  return [
    {
      path: 'csctl.yaml',
      content: manifest(
        ['What csctl builds a release of this stack from.'],
        [
          {
            apiVersion: 'csctl.clusterstack.x-k8s.io/v1alpha1',
            config: {
              clusterStackName: stackNames[capo],
              kubernetesVersion: `v${row.kubernetes}`,
              provider: { apiVersion: 'openstack.csctl.clusterstack.x-k8s.io/v1alpha1', type: 'openstack' },
            },
          },
        ],
      ),
    },
    {
      path: 'stack.yaml',
      content: manifest(
        ['The versions of this stack.'],
        [
          {
            provider: 'openstack',
            clusterStackName: stackNames[capo],
            kubernetesVersion: `1.${minor}`,
            addons: { ccm: charts['openstack-cloud-controller-manager'], csi: charts['openstack-cinder-csi'] },
          },
        ],
      ),
    },
    addOnStages(),
    ...classChart.map(({ path, content }) => ({ path: `cluster-class/${path}`, content })),
    ...addOnFiles(row, version),
  ];
}

/** One template for each object of the class. */
function classTemplates(capo: CapoVersion): StackFile[] {
  const chart = new OpenStackClusterClass(new App(), 'cluster-class', { name: className, capo });
  const expressions = { [className]: '.Release.Name }}-{{ .Chart.Version' };
  return (chart.toJson() as RenderedObject[]).map((object) => ({
    path: `templates/${templateName(object.kind)}.yaml`,
    content: chartTemplate([`The ${object.kind} of the stack.`], [object], expressions),
  }));
}

/** The name of the template of a kind, such as `cluster-class`. */
function templateName(kind: string): string {
  const words = kind.replace('OpenStack', 'Openstack').replaceAll(/(?!^)[A-Z]/g, (capital) => `-${capital}`);
  const ofWorkers = /(Machine|Config)Template$/.test(kind);
  return `${words.toLowerCase()}${ofWorkers ? '-default-worker' : ''}`;
}
