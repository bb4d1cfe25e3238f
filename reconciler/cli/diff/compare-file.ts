import { HostedControlPlane } from '../../../constructs/api/resources.ts';
import { documentsIn } from '../../../constructs/rendered-file.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { readFile } from '../read-file.ts';
import { type Comparison, specChanges } from './effects.ts';
import { ownersOf } from './field-owners.ts';
import { renderedChanges } from './rendered-changes.ts';
import { sampleOf } from './live-sample.ts';

/**
 * A control plane with a file that is not applied yet. The API server computes the new object without storing it.
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
  const before = await sampleOf(session, live);
  // the file may lack the owner, by which the Cluster is found
  const after = await sampleOf(session, { ...changed, metadata: live.metadata });
  const spec = specChanges(before.cluster.spec, after.cluster.spec).map((change) => ({
    ...change,
    setBy: ownersOf(live, `spec.${change.path}`),
  }));
  return { cluster: before.cluster.name, spec, objects: renderedChanges(before, after) };
}

/** @throws when there is not exactly one */
function controlPlaneIn(path: string): KubeObject {
  const found = (documentsIn(readFile(path)) as KubeObject[]).filter(({ kind }) => kind === HostedControlPlane.kind);
  const [object] = found;
  if (!object || found.length > 1)
    throw new Error(`${path} has ${found.length} HostedControlPlanes: set a file with one`);
  return object;
}
