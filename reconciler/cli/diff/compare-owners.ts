import { clusterNameLabel, fieldManager } from '../../../constructs/api/group.ts';
import { managedByLabel, selectorOf } from '../../../constructs/cluster/labels.ts';
import { renderedKinds } from '../../../constructs/control-plane/kinds.ts';
import { messageOf } from '../../kube/error-message.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { Session } from '../command.ts';
import { clusterOf, findObject } from '../control-plane.ts';
import { type Comparison, effectOf, type ObjectChange } from './effects.ts';
import { heldFields } from './field-owners.ts';

/**
 * Compares who has set the fields of a control plane's objects in the management cluster, which the API server records. It compares no
 * values, because only the operator knows what it would write. It names the kinds that the user may not read, and goes on.
 */
export async function compareOwners(session: Session, name: string): Promise<Comparison> {
  const { client, terminal } = session;
  const live = await findObject(session, name);
  const cluster = clusterOf(live) ?? name;
  const labelSelector = selectorOf({ [managedByLabel]: fieldManager, [clusterNameLabel]: cluster });
  const objects: ObjectChange[] = [];
  for (const resource of renderedKinds) {
    try {
      const { items } = await client.list(resource, { namespace: live.metadata.namespace, labelSelector });
      objects.push(...items.flatMap(changedByOthers));
    } catch (error) {
      // a kind that is not installed
      if (!isNotFound(error)) terminal.tell(`not known: ${resource.plural}: ${messageOf(error)}`);
    }
  }
  return { cluster, spec: [], objects };
}

/** The fields of an object that others hold, apart from its metadata and its status, which several controllers write. */
export function changedByOthers(object: KubeObject): ObjectChange[] {
  const held = heldFields(object).filter(
    ({ path, manager }) => !isOperators(manager) && !/^(metadata|status|$)/.test(path),
  );
  if (held.length === 0) return [];
  const fields = [...new Set(held.map(({ path }) => path))].map((path) => ({ path }));
  const setBy = [...new Set(held.map(({ manager }) => manager))].sort();
  const { kind, metadata } = object;
  return [{ place: 'management', object: `${kind} ${metadata.name}`, effect: effectOf(kind, fields), fields, setBy }];
}

/** Some steps of the operator have a name of their own. */
function isOperators(manager: string): boolean {
  return manager === fieldManager || manager.startsWith(`${fieldManager}-`);
}
