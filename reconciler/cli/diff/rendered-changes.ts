import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import type { Sample } from '../../../constructs/sample.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import { type ObjectChange, objectChanges } from './effects.ts';

/** The differences between what two control planes with the same examples are rendered to, in both clusters. */
export function renderedChanges(before: Sample, after: Sample): ObjectChange[] {
  const [one, other] = [before, after].map(({ cluster, facts }) => ({
    management: renderControlPlane(cluster, facts),
    hosted: renderWorkload(cluster, facts),
  }));
  return (['management', 'hosted'] as const).flatMap((place) =>
    objectChanges(one?.[place] ?? [], other?.[place] ?? [], place),
  );
}
