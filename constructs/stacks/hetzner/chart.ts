import { createHash } from 'node:crypto';
import { App } from 'cdk8s';
import { k0sSuffix, kubernetesVersion } from '../../cluster/versions.ts';
import { manifest } from '../../cluster/manifest.ts';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { chartFile, type StackFile, templatePath } from '../../helm/chart.ts';
import { Expressions } from '../../helm/expressions.ts';
import { type HetznerAccess, HetznerHostedCluster, type HetznerHostedClusterProps } from './cluster.ts';
import { defaultValues, type GivenHetznerValues, HetznerValues, valuesSchema } from './values.ts';

/** Name and version of the chart. */
export const hetznerChart = { name: 'hetzner-hosted-cp', version: '1.2.0' } as const;

/**
 * The objects that the chart makes of these values.
 * @throws for values that the chart refuses
 */
export function renderHetznerCluster(name: string, namespace: string, given: GivenHetznerValues): RenderedObject[] {
  const values = HetznerValues.parse(given);
  const { worker, controlPlane, k0s } = values;
  return render({
    name,
    namespace,
    version: kubernetesVersion(values.kubernetesVersion ?? k0s?.version ?? ''),
    values,
    access: accessOf(controlPlane),
    machineHash: createHash('sha256').update(`${worker.image} ${worker.type}`).digest('hex').slice(0, hashLength),
  });
}

const hashLength = 8;

function render(props: HetznerHostedClusterProps): RenderedObject[] {
  return new HetznerHostedCluster(new App(), 'cluster', props).toJson() as RenderedObject[];
}

const version = `regexReplaceAll "${k0sSuffix.replaceAll('\\', '\\\\')}" (default .Values.k0s.version .Values.kubernetesVersion) ""`;
const machineHash = `printf "%s %s" .Values.worker.image .Values.worker.type | sha256sum | trunc ${hashLength}`;

/** The objects with expressions in the place of values, and one way to reach the API server. */
function templateOf(accessOfMode: (expressions: Expressions) => HetznerAccess): Map<string, string> {
  const expressions = new Expressions();
  const value = <T = string>(expression: string) => expressions.value<T>(expression);
  const json = <T>(path: string) => value<T>(`toJson .Values.${path}`);
  const objects = render({
    name: value('.Release.Name'),
    namespace: value('.Release.Namespace'),
    version: value(version),
    machineHash: value(machineHash),
    access: accessOfMode(expressions),
    values: {
      workersNumber: value<number>('.Values.workersNumber'),
      controlPlane: { replicas: value<number>('.Values.controlPlane.replicas') },
      region: value<'nbg1'>('.Values.region'),
      sshKeyNames: expressions.list('.Values.sshKeyNames'),
      tokenRef: { name: json('tokenRef.name'), key: json('tokenRef.key') },
      hcloudNetwork: {
        enabled: json('hcloudNetwork.enabled'),
        cidrBlock: json('hcloudNetwork.cidrBlock'),
        subnetCidrBlock: json('hcloudNetwork.subnetCidrBlock'),
        networkZone: json('hcloudNetwork.networkZone'),
      },
      worker: { image: json('worker.image'), type: json('worker.type') },
      clusterNetwork: {
        pods: expressions.list('.Values.clusterNetwork.pods'),
        services: expressions.list('.Values.clusterNetwork.services'),
      },
    },
  });
  return new Map(objects.map((object) => [object.kind, expressions.template([`The ${object.kind}.`], [object])]));
}

type ControlPlane = HetznerValues['controlPlane'];
type Ingress = NonNullable<ControlPlane['ingress']>;

/** TLS port of the ingress controller. */
const ingressPort = 443;

/** A way to reach the API server: how it follows from the values. */
const accessModes = {
  ingress: ({ apiHost, konnectivityHost, controller, className }: Ingress): HetznerAccess => ({
    exposure: { ingress: { apiHost, konnectivityHost, controller, className, port: ingressPort } },
    endpoint: { host: apiHost, port: ingressPort },
  }),
  nodePort: (address: string, { apiPort: port, konnectivityPort }: ControlPlane['service']): HetznerAccess => ({
    exposure: { nodePort: { address, port, konnectivityPort } },
    endpoint: { host: address, port },
  }),
  loadBalancer: ({ annotations }: ControlPlane['service']): HetznerAccess => ({
    exposure: { loadBalancer: { annotations } },
  }),
};

/** The way that valid values choose. */
function accessOf({ ingress, service }: ControlPlane): HetznerAccess {
  if (ingress) return accessModes.ingress(ingress);
  if (service.type === 'NodePort') return accessModes.nodePort(service.externalAddress ?? '', service);
  return accessModes.loadBalancer(service);
}

/** The ways to reach the API server, with the condition of each; the last one applies otherwise. */
const modes: readonly { readonly condition?: string; readonly template: Map<string, string> }[] = [
  {
    condition: '.Values.controlPlane.ingress',
    template: templateOf((expressions) => {
      const of = <T = string>(path: string) => expressions.value<T>(`.Values.controlPlane.ingress.${path}`);
      const orHaproxy = <T = string>(path: string) =>
        expressions.value<T>(`default "haproxy" .Values.controlPlane.ingress.${path}`);
      return accessModes.ingress({
        apiHost: of('apiHost'),
        konnectivityHost: of('konnectivityHost'),
        controller: orHaproxy<'haproxy'>('controller'),
        className: orHaproxy('className'),
      });
    }),
  },
  {
    condition: 'eq .Values.controlPlane.service.type "NodePort"',
    template: templateOf((expressions) => {
      const of = <T = string>(path: string) => expressions.value<T>(`.Values.controlPlane.service.${path}`);
      return accessModes.nodePort(of('externalAddress'), {
        type: 'NodePort',
        annotations: {},
        apiPort: of<number>('apiPort'),
        konnectivityPort: of<number>('konnectivityPort'),
      });
    }),
  },
  {
    template: templateOf((expressions) => ({
      exposure: {
        loadBalancer: { annotations: expressions.value('toJson .Values.controlPlane.service.annotations') },
      },
    })),
  },
];

/** A template for each object. What differs between the ways to reach the API server is in branches. */
function templates(): StackFile[] {
  const [first, ...others] = modes;
  return [...(first?.template ?? [])].map(([kind, text]) => {
    const same = others.every(({ template }) => template.get(kind) === text);
    const branches = modes.map(({ condition, template }, index) => {
      const test = condition === undefined ? 'else' : `${index === 0 ? '' : 'else '}if ${condition}`;
      return `{{- ${test} }}\n${template.get(kind)}`;
    });
    return { path: templatePath(kind), content: same ? text : `${branches.join('')}{{- end }}\n` };
  });
}

/** The files of the Helm chart. */
export function hetznerChartFiles(): StackFile[] {
  return [
    chartFile({
      ...hetznerChart,
      description: 'A cluster with a hosted control plane and workers in Hetzner Cloud.',
      annotations: {
        'cluster.x-k8s.io/provider': 'infrastructure-hetzner, control-plane-hosted-control-plane, bootstrap-kubeadm',
        'cluster.x-k8s.io/infrastructure-hetzner': 'v1beta1',
        'cluster.x-k8s.io/control-plane-hosted-control-plane': 'v1alpha1',
        'cluster.x-k8s.io/bootstrap-kubeadm': 'v1beta2',
      },
    }),
    {
      path: 'values.yaml',
      content: manifest(['Defaults of the values. Set region and a version.'], [defaultValues()]),
    },
    { path: 'values.schema.json', content: `${JSON.stringify(valuesSchema(), undefined, 2)}\n` },
    ...templates(),
  ];
}
