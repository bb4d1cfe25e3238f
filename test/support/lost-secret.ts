import { pausedAnnotation } from '../../constructs/api/group.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { Workbench } from './workbench.ts';

/** Loses a Secret that the operator holds: by force, while the control plane is paused and the operator knows it. */
export async function loseSecret(bench: Workbench, cluster: string, secret: string): Promise<void> {
  const place = { namespace: bench.namespace, name: secret };
  const pause = (value: string | null) =>
    bench.patch(cluster, { metadata: { annotations: { [pausedAnnotation]: value } } });
  await pause('true');
  await bench.untilCondition(cluster, 'Paused', { status: 'True' });
  await bench.client.mergePatch(Secret, place, { metadata: { finalizers: null } }, { fieldManager: 'test' });
  await bench.client.delete(Secret, place);
  await pause(null);
}
