import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import type { RenderedObject } from '../control-plane/chart.ts';
import { Rbac } from './rbac.ts';

/** What a hosted control plane needs inside its own cluster. */
export class WorkloadChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { disableResourceNameHashes: true });
    new Rbac(this, 'rbac');
  }
}

/** Renders the chart. It is the same for every cluster. */
export function renderWorkload(): RenderedObject[] {
  return new WorkloadChart(new App(), 'workload').toJson() as RenderedObject[];
}
