import { manifest } from '../../cluster/manifest.ts';
import { chartFile, type StackFile } from '../../helm/chart.ts';
import type { StackMinor } from './minors.ts';

/** The Secret in `kube-system` of the hosted cluster with the credentials for OpenStack. */
export const cloudsYaml = 'clouds-yaml';

const credentials = {
  volume: { name: cloudsYaml, secret: { secretName: cloudsYaml } },
  mount: { name: cloudsYaml, mountPath: '/etc/openstack', readOnly: true },
} as const;

/** An add-on: a chart with one dependency, and the values of that. */
interface AddOn {
  /** Folder of the chart, and name of the step in the add-on stages. */
  readonly name: string;
  readonly chart: keyof StackMinor['charts'];
  readonly repository: string;
  readonly values: object;
  /** Values that differ from cluster to cluster: templates over `.Cluster`, the Cluster. @default none */
  readonly overwrite?: object;
}

/** The add-ons in the order in which they are applied. */
export const addOns: readonly AddOn[] = [
  {
    name: 'cni',
    chart: 'cilium',
    repository: 'https://helm.cilium.io/',
    values: {
      namespaceOverride: 'kube-system',
      ipam: { mode: 'kubernetes' },
      gatewayAPI: { enabled: true, secretsNamespace: { name: 'kube-system', create: false } },
      sessionAffinity: true,
      sctp: { enabled: true },
    },
  },
  {
    name: 'metrics-server',
    chart: 'metrics-server',
    repository: 'https://kubernetes-sigs.github.io/metrics-server/',
    values: { fullnameOverride: 'metrics-server', args: ['--kubelet-insecure-tls'] },
  },
  {
    name: 'csi',
    chart: 'openstack-cinder-csi',
    repository: 'https://kubernetes.github.io/cloud-provider-openstack',
    values: {
      secret: {
        enabled: true,
        create: true,
        name: 'csi-cloud-config',
        filename: 'cloud.conf',
        data: { 'cloud.conf': '[Global]\nuse-clouds=true\nclouds-file=/etc/openstack/clouds.yaml\n' },
      },
      storageClass: { delete: { isDefault: true } },
      csi: {
        plugin: {
          volumes: [credentials.volume],
          // The chart itself has the volume of the first one, if secret.enabled.
          volumeMounts: [{ name: 'cloud-config', mountPath: '/etc/kubernetes', readOnly: true }, credentials.mount],
        },
      },
    },
    overwrite: { clusterID: '{{ .Cluster.metadata.name }}' },
  },
  {
    name: 'ccm',
    chart: 'openstack-cloud-controller-manager',
    repository: 'https://kubernetes.github.io/cloud-provider-openstack',
    values: {
      secret: { enabled: true, create: true, name: 'ccm-cloud-config' },
      cloudConfig: { global: { 'use-clouds': true } },
      // Removes the chart's own selector: a hosted cluster has no control plane nodes.
      nodeSelector: { 'node-role.kubernetes.io/control-plane': null },
      tolerations: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      extraVolumes: [credentials.volume],
      extraVolumeMounts: [credentials.mount],
    },
    overwrite: { cluster: { name: '{{ .Cluster.metadata.name }}' } },
  },
];

/** The files of the add-ons of one minor. */
export function addOnFiles({ charts }: StackMinor, stackVersion: string): StackFile[] {
  return addOns.flatMap(({ name, chart, repository, values, overwrite }) => {
    const files: StackFile[] = [
      chartFile({
        name,
        version: stackVersion,
        description: `The add-on ${name} of the hosted cluster: the chart ${chart}.`,
        dependencies: [{ name: chart, version: charts[chart], repository }],
      }),
      { path: 'values.yaml', content: manifest([`Values of ${chart}.`], [{ [chart]: values }]) },
    ];
    if (overwrite) files.push({ path: 'overwrite.yaml', content: overwriteFile(chart, overwrite) });
    return files.map((file) => ({ ...file, path: `cluster-addon/${name}/${file.path}` }));
  });
}

/** Values that the cluster stack operator adds, after it has filled in the Cluster. */
function overwriteFile(chart: string, overwrite: object): string {
  const [, ...lines] = manifest([], [{ [chart]: overwrite }])
    .trimEnd()
    .split('\n');
  return manifest([`Values of ${chart} that differ from cluster to cluster.`], [{ values: `${lines.join('\n')}\n` }]);
}

/** Hooks of Cluster API's runtime SDK at which the add-ons are applied. */
const hooks = ['AfterControlPlaneInitialized', 'BeforeClusterUpgrade'];

/** The stages of the add-ons: every one at both hooks, in order. */
export function addOnStages(): StackFile {
  const steps = addOns.map(({ name }) => ({ name, action: 'apply' }));
  const stages = Object.fromEntries(hooks.map((hook) => [hook, steps]));
  return {
    path: 'clusteraddon.yaml',
    content: manifest(
      ['When the cluster stack operator applies the add-ons, and in which order.'],
      [
        {
          apiVersion: 'clusteraddonconfig.x-k8s.io/v1alpha1',
          clusterAddonVersion: 'clusteraddons.clusterstack.x-k8s.io/v1alpha1',
          addonStages: stages,
        },
      ],
    ),
  };
}
