import type { V1Container, V1PodSpec, V1PodTemplateSpec, V1ServiceSpec } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { type RenderedObject, renderControlPlane } from '../../constructs/control-plane/chart.ts';
import { type Sample, readSample } from '../../constructs/sample.ts';
import { readSampleFiles } from '../../constructs/sample-files.ts';

/** A sample cluster and everything it renders. */
export interface RenderedSample extends Sample {
  readonly name: string;
  /** The user's objects as written in the file. */
  readonly source: readonly unknown[];
  readonly objects: readonly RenderedObject[];
}

export async function renderSamples(): Promise<RenderedSample[]> {
  return (await readSampleFiles()).map(({ name, content }) => {
    const source = parseAllDocuments(content).map((document): unknown => document.toJS());
    const sample = readSample(source);
    return { name, source, ...sample, objects: renderControlPlane(sample.cluster, sample.facts) };
  });
}

/** A rendered object that runs pods. */
export interface Workload {
  readonly object: RenderedObject;
  readonly selector: Readonly<Record<string, string>>;
  readonly template: V1PodTemplateSpec;
  readonly pod: V1PodSpec;
  readonly containers: readonly V1Container[];
  /** Names of volumes that exist without being listed in the pod. */
  readonly claims: readonly string[];
}

interface WorkloadSpec {
  readonly selector: { readonly matchLabels: Record<string, string> };
  readonly template: V1PodTemplateSpec;
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}

/** The Deployments, DaemonSets and StatefulSets among rendered objects. */
export function workloadsOf(objects: readonly RenderedObject[]): Workload[] {
  return objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet' || kind === 'StatefulSet')
    .map((object) => {
      const { selector, template, volumeClaimTemplates = [] } = object['spec'] as WorkloadSpec;
      if (!template.spec) throw new Error(`${object.kind} ${object.metadata.name} has no pod spec`);
      return {
        object,
        selector: selector.matchLabels,
        template,
        pod: template.spec,
        containers: [...template.spec.containers, ...(template.spec.initContainers ?? [])],
        claims: volumeClaimTemplates.map(({ metadata }) => metadata.name),
      };
    });
}

interface ServiceObject extends RenderedObject {
  /** Undefined for a Service that Kubernetes itself creates and that only gets a label. */
  readonly spec?: V1ServiceSpec;
}

export function servicesOf(objects: readonly RenderedObject[]): ServiceObject[] {
  return objects.filter((object): object is ServiceObject => object.kind === 'Service');
}

/** Every label of objects and of their pod templates. */
export function labelsOf(value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.flatMap(labelsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === 'labels' || key === 'matchLabels'
      ? (Object.entries(member as object) as [string, string][])
      : labelsOf(member),
  );
}

/** `Kind namespace/name`, to name an object in a failure. */
export function identityOf({ kind, metadata }: RenderedObject): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}
