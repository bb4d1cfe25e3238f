import { rulesOf } from '../../constructs/cluster/access-rules.ts';
import { type Place, places } from '../../reconciler/cli/access.ts';
import type { Command } from '../../reconciler/cli/command.ts';
import type { Grant } from './granted-account.ts';

/** Namespaces in which commands read, apart from that of the control plane. */
export type Elsewhere = Partial<Readonly<Record<Exclude<Place, 'namespace' | 'cluster'>, string>>>;

/**
 * The rights that the help of a command asks for.
 * @param namespace of the control plane @param elsewhere by default the same
 */
export function commandGrants({ access }: Command, namespace: string, elsewhere: Elsewhere = {}): Grant[] {
  const namespaces = { namespace, cluster: undefined, gateway: namespace, store: namespace, ...elsewhere };
  return (Object.keys(places) as Place[]).flatMap((place) => {
    const rules = rulesOf(access.filter(({ where = 'namespace' }) => where === place));
    return rules.length === 0 ? [] : [{ namespace: namespaces[place], rules }];
  });
}
