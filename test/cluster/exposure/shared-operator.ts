import { watchFilterLabel } from '../../../constructs/api/group.ts';
import { startOperator, type TestOperator } from '../../support/operator.ts';
import { ShippedRights } from '../../support/shipped-rights.ts';
import type { Workbench } from '../../support/workbench.ts';
import { lookupFor } from '../../tools/testbed/gateway-address.ts';
import type { Instance } from '../../tools/testbed/instance.ts';

const watchFilter = 'exposure';

/** Patch by which a HostedControlPlane becomes one of {@link startSharedOperator}. */
export const shared = { metadata: { labels: { [watchFilterLabel]: watchFilter } } };

/**
 * Starts an operator for all namespaces, because claims are compared across them. It leaves the control planes of other files alone,
 * which have no such label.
 * @param bench of the namespace that its ServiceAccount is in
 */
export async function startSharedOperator(
  instance: Instance,
  { client, namespace }: Workbench,
  kubeconfig: string,
): Promise<TestOperator> {
  const rights = await ShippedRights.grant({ client, kubeconfig, namespace });
  const operator = await startOperator({ rights, watchFilter, lookup: lookupFor(instance) });
  return {
    ...operator,
    async stop() {
      await operator.stop();
      await rights.end();
    },
  };
}
