import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { renderControlPlane } from '../../../constructs/control-plane/chart.ts';
import { documentsIn } from '../../../constructs/rendered-file.ts';
import { readSample } from '../../../constructs/sample.ts';
import { renderWorkload } from '../../../constructs/workload/chart.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { clusterOf } from '../control-plane.ts';
import { readFile } from '../read-file.ts';
import { type Comparison, objectChanges, specChanges } from './effects.ts';
import { ownersOf } from './field-owners.ts';
import { surroundings, withoutEndpoint } from './surroundings.ts';

/**
 * A control plane with a file that is not applied yet: both specs, rendered with the same examples in the place of addresses and
 * certificates, so that only the specs make a difference. The API server computes the new one without storing it.
 * @throws with its message when it refuses the file
 */
export async function compareFile(session: Session, path: string, fieldManager: string): Promise<Comparison> {
  const { client, namespace } = session;
  const wanted = controlPlaneIn(path);
  const metadata = { ...wanted.metadata, namespace: wanted.metadata.namespace ?? namespace };
  const name = { namespace: metadata.namespace, name: metadata.name };
  const live = await client.find(HostedControlPlane, name);
  if (!live)
    throw new Error(
      `HostedControlPlane ${name.name} does not exist in namespace ${name.namespace}: hcp render shows what it becomes`,
    );
  const changed = await client.apply({ ...wanted, metadata }, { fieldManager, force: true, dryRun: true });
  const around = await surroundings(session, live);
  const [before, after] = [live, changed].map((object) => readSample([...around, withoutEndpoint(object)]));
  if (!before || !after) throw new Error('nothing was rendered');
  const objects = [
    ...objectChanges(
      renderControlPlane(before.cluster, before.facts),
      renderControlPlane(after.cluster, after.facts),
      'management',
    ),
    ...objectChanges(
      renderWorkload(before.cluster, before.facts),
      renderWorkload(after.cluster, after.facts),
      'hosted',
    ),
  ];
  const spec = specChanges(before.cluster.spec, after.cluster.spec).map((change) => ({
    ...change,
    setBy: ownersOf(live, `spec.${change.path}`),
  }));
  return { cluster: clusterOf(live) ?? name.name, spec, objects };
}

/** @throws when there is not exactly one */
function controlPlaneIn(path: string): KubeObject {
  const found = (documentsIn(readFile(path)) as KubeObject[]).filter(({ kind }) => kind === HostedControlPlane.kind);
  const [object] = found;
  if (!object || found.length > 1)
    throw new Error(`${path} has ${found.length} HostedControlPlanes: set a file with one`);
  return object;
}
