import { Namespace } from '../../../constructs/api/resources.ts';
import { providerNames, providerNamespace, rbacGroup } from '../../../constructs/cluster/provider-names.ts';
import { renderProvider } from '../../../constructs/provider/chart.ts';
import type { RenderedObject } from '../../../constructs/control-plane/chart.ts';
import type { MemoryApiServer } from '../memory-cluster/api-server.ts';
import { serviceAccountUser, type User } from '../memory-cluster/users.ts';

/** Where the provider is installed, and for which control planes. */
export interface Installation {
  /** By default that of the release. */
  readonly namespace?: string;
  /** The only namespace of control planes. By default all. */
  readonly watchNamespace?: string;
}

/** As whom the installed operator acts. It has no other rights than those of {@link installRights}. */
export function operatorUser({ namespace = providerNamespace }: Installation = {}): User {
  return serviceAccountUser({ namespace, name: providerNames.serviceAccount });
}

/** The roles and bindings of an installation, as `dist/` has them. */
function shippedRights(installation: Installation = {}): readonly RenderedObject[] {
  const key = JSON.stringify([installation.namespace, installation.watchNamespace]);
  const known = rendered.get(key) ?? renderProvider(installation).filter(isRbac);
  rendered.set(key, known);
  return known;
}

const rendered = new Map<string, readonly RenderedObject[]>();

function isRbac({ apiVersion }: RenderedObject): boolean {
  return apiVersion.startsWith(`${rbacGroup}/`);
}

/** Grants to the operator what its installation grants, and nothing else. */
export function installRights({ store }: MemoryApiServer, installation: Installation = {}): void {
  const { namespace = providerNamespace } = installation;
  store.put({ apiVersion: Namespace.apiVersion, kind: Namespace.kind, metadata: { name: namespace } });
  for (const object of shippedRights(installation)) store.put(object);
}
