import { CustomResourceDefinition, Deployment, Namespace, NetworkPolicy } from '../../api/resources.ts';
import { manifest } from '../../cluster/manifest.ts';
import type { RenderedObject } from '../../control-plane/chart.ts';
import { chartFile, type StackFile, templatePath } from '../../helm/chart.ts';
import { Expressions } from '../../helm/expressions.ts';
import { renderProvider } from '../chart.ts';
import { renderMonitoring } from '../monitoring/chart.ts';
import { managerEnvironment, managerPriorityClass, managerResources, managerTolerations } from '../operator.ts';
import { releaseVersion } from '../release.ts';
import { z } from 'zod';
import { managerImage } from '../image.ts';

/** Name and version of the chart. */
export const providerChart = { name: 'hosted-control-plane', version: releaseVersion } as const;

/** Helm leaves an object with it in place when it uninstalls a release: with a CRD all control planes would go. */
const keep = { 'helm.sh/resource-policy': 'keep' };

/**
 * The objects of the installation with expressions in the place of values, by their kinds. Helm creates the namespace itself.
 * @param watchesOne whether the operator reconciles one namespace
 */
function templatesOf(watchesOne: boolean): Map<string, string> {
  const expressions = new Expressions();
  const objects = renderProvider({
    namespace: expressions.value('.Release.Namespace'),
    ...(watchesOne && { watchNamespace: expressions.value('.Values.watchNamespace') }),
    networkPolicy: true,
  });
  const kinds = new Set(objects.map(({ kind }) => kind));
  kinds.delete(Namespace.kind);
  return new Map(
    [...kinds].map((kind) => {
      const ofKind = objects.filter((object) => object.kind === kind);
      const written = ofKind.map((object) => withValues(kept(object), expressions));
      return [kind, expressions.template([`${kind}s of the provider.`], written)];
    }),
  );
}

interface ManagerDeployment extends RenderedObject {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { readonly args?: readonly string[]; readonly env: readonly { readonly name: string }[] },
        ];
      };
    };
  };
}

/** The Deployment with expressions for what the values decide. */
function withValues(object: RenderedObject, expressions: Expressions): RenderedObject {
  if (object.kind !== Deployment.kind) return object;
  const json = (path: string) => expressions.value(`toJson .Values.${path}`);
  const optional = (path: string) => expressions.optional(`.Values.${path}`);
  const { spec } = object as ManagerDeployment;
  const pod = spec.template.spec;
  const [manager] = pod.containers;
  const container = {
    ...manager,
    image: json('image'),
    args: [...(manager.args ?? []), ...expressions.entries('.Values.args')],
    env: [
      ...manager.env.filter(({ name }) => managerEnvironment[name] === undefined),
      { name: expressions.variables('.Values.env'), value: '' },
    ],
    resources: json('resources'),
  };
  const podSpec = {
    ...pod,
    imagePullSecrets: optional('imagePullSecrets'),
    nodeSelector: optional('nodeSelector'),
    affinity: optional('affinity'),
    tolerations: json('tolerations'),
    priorityClassName: json('priorityClassName'),
    containers: [container],
  };
  const replicas = expressions.value('.Values.replicas');
  return { ...object, spec: { ...spec, replicas, template: { ...spec.template, spec: podSpec } } };
}

function kept(object: RenderedObject): RenderedObject {
  if (object.kind !== CustomResourceDefinition.kind) return object;
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...keep } } };
}

/** A template for each kind. What differs for an operator of one namespace is in branches. */
function templates(): StackFile[] {
  const [one, all] = [templatesOf(true), templatesOf(false)];
  return [...new Set([...one.keys(), ...all.keys()])].map((kind) => {
    const [ofOne = '', ofAll = ''] = [one.get(kind), all.get(kind)];
    const content =
      ofOne === ofAll ? ofAll : `{{- if .Values.watchNamespace }}\n${ofOne}{{- else }}\n${ofAll}{{- end }}\n`;
    return {
      path: templatePath(kind),
      content: kind === NetworkPolicy.kind ? onlyWith('networkPolicy', content) : content,
    };
  });
}

function monitoringTemplate(): StackFile {
  const expressions = new Expressions();
  const objects = renderMonitoring(expressions.value('.Release.Namespace'));
  const content = expressions.template(['What Prometheus scrapes of the operator, and its alerts.'], objects);
  return { path: 'templates/monitoring.yaml', content: onlyWith('monitoring', content) };
}

/** A template that is empty unless a value is true. */
function onlyWith(value: string, content: string): string {
  return `{{- if .Values.${value} }}\n${content}{{- end }}\n`;
}

/** The files of the Helm chart of the provider. @param image default of the operator's image */
export function providerChartFiles(image: string): StackFile[] {
  return [
    chartFile({
      ...providerChart,
      appVersion: releaseVersion,
      description: 'Cluster API control-plane provider: Kubernetes control planes that run as pods.',
    }),
    { path: 'values.yaml', content: manifest(['Defaults of the values.'], [ProviderValues.parse({ image })]) },
    { path: 'values.schema.json', content: `${JSON.stringify(providerValuesSchema(), undefined, 2)}\n` },
    ...templates(),
    monitoringTemplate(),
  ];
}

const map = () => z.record(z.string(), z.string());
const anything = (what: string) => z.looseObject({}).describe(what);

/** The values of the provider's chart. Unknown keys are errors. */
const ProviderValues = z.strictObject({
  image: z
    .string()
    .min(1)
    .default(managerImage)
    .describe('Image of the operator: the one that `npm run image` builds, in a registry that nodes can pull from.'),
  imagePullSecrets: z
    .array(z.strictObject({ name: z.string().min(1).describe('Name of the Secret.') }))
    .default([])
    .describe('Secrets for that registry, in the namespace of the release.'),
  replicas: z.int32().min(1).default(2).describe('Number of pods. One of them is active, and the others wait.'),
  watchNamespace: z
    .string()
    .max(63)
    .default('')
    .describe(
      'The only namespace of control planes, which must exist. The operator then has a Role there, and reads elsewhere what control planes share. All namespaces when empty.',
    ),
  args: z.array(z.string()).default([]).describe('Further arguments of the operator, such as --watch-filter=a.'),
  env: map()
    .default({ ...managerEnvironment })
    .describe('Environment variables of the operator.'),
  resources: anything('Resources of its container.').default({ ...managerResources }),
  nodeSelector: map().default({}).describe('Labels of the nodes on which it runs.'),
  tolerations: z
    .array(z.looseObject({}))
    .default(managerTolerations.map((one) => ({ ...one })))
    .describe('Taints of nodes that it tolerates.'),
  affinity: anything('Its affinity. Its pods prefer different nodes anyway.').default({}),
  priorityClassName: z.string().min(1).default(managerPriorityClass).describe('Its PriorityClass.'),
  networkPolicy: z
    .boolean()
    .default(false)
    .describe('Whether a NetworkPolicy admits connections to it only at its ports of health and metrics.'),
  monitoring: z
    .boolean()
    .default(false)
    .describe('Whether a PodMonitor and alerts are installed, which need the kinds of the Prometheus Operator.'),
});

/** What a user sets: everything may be left out. */
export type GivenProviderValues = z.input<typeof ProviderValues>;

/** The same as JSON schema, against which Helm checks what a user sets. */
export function providerValuesSchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(ProviderValues, { target: 'draft-7', io: 'input' });
  // Helm adds it to the values of a chart that is a dependency.
  const global = { type: 'object', description: 'Added by Helm, and not used.' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...schema,
    properties: { ...(schema.properties as object), global },
  };
}
