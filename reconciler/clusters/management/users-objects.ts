import type { Resource } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { ControlPlaneContext } from './view.ts';

/**
 * Objects that users create, such as a CA of their own or a restored Secret, carry no label of a component. No cache
 * keeps them, and watches report only those that `referencesOf` names: a phase finds them by a request, and checks again
 * after this time.
 */
export const recheckMs = 30_000;

type Access = Pick<ControlPlaneContext, 'reader' | 'writer'>;

/** Finds an object that a user may have created: among the watched ones, else by a request. */
export async function findUsersObject<T extends KubeObject>(
  { reader, writer }: Access,
  resource: Resource,
  name: string,
): Promise<T | undefined> {
  return reader.get<T>(resource, name) ?? (await writer.read<T>(resource, name));
}

/** Labels an object of a user, so that the watches report it from now on. Does nothing when they do already. */
export async function adoptUsersObject({ reader, writer }: Access, resource: Resource, name: string): Promise<void> {
  if (!reader.get(resource, name)) await writer.adopt(resource, name);
}
