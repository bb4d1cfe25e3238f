import type { RenderedObject } from '../../constructs/control-plane/chart.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';
import { renderWorkload, type WorkloadPart } from '../../constructs/workload/chart.ts';
import { type ClusterChanges, clusterOf, knownFacts } from './rendered-cluster.ts';
import { type Workload, workloadsOf } from './rendered-objects.ts';

/** The rendered objects of one part of the hosted cluster. */
export class RenderedPart {
  readonly objects: readonly RenderedObject[];

  constructor(part: WorkloadPart, changes: ClusterChanges = {}, facts: Partial<Facts> = {}) {
    this.objects = renderWorkload(clusterOf(changes), { ...knownFacts, ...facts }, part);
  }

  /** The only object of a kind. @throws if there is none, or several. */
  only(kind: string): RenderedObject {
    const [found, ...others] = this.objects.filter((object) => object.kind === kind);
    if (!found || others.length > 0)
      throw new Error(`${others.length + (found ? 1 : 0)} ${kind}s are rendered, not one`);
    return found;
  }

  /** A file of the only ConfigMap. @throws if there is no such file. */
  file(name: string): string {
    const content = (this.only('ConfigMap')['data'] as Record<string, string>)[name];
    if (content === undefined) throw new Error(`there is no file ${name}`);
    return content;
  }

  /** The only workload. @throws if there is none. */
  get workload(): Workload {
    const [found] = workloadsOf(this.objects);
    if (!found) throw new Error('no workload is rendered');
    return found;
  }

  get args(): readonly string[] {
    return this.workload.containers.flatMap(({ args = [] }) => args);
  }

  get environment(): Record<string, string | undefined> {
    const variables = this.workload.containers.flatMap(({ env = [] }) => env);
    return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
  }

  get replicas(): unknown {
    return (this.workload.object['spec'] as { replicas?: number }).replicas;
  }
}
