import { definedOnly } from '../../constructs/cluster/defined-only.ts';
import type { ApiServer } from './api-server.ts';
import { startOperator, type TestOperator } from './operator.ts';
import { ShippedRights } from './shipped-rights.ts';

export interface NamedOperator extends TestOperator {
  /** Its name in an audit log. */
  readonly user: string;
}

/** Starts an operator of one namespace with a ServiceAccount of its own, by which an audit log tells its requests apart. */
export async function startOperatorAs(
  account: string,
  { client, kubeconfig }: Pick<ApiServer, 'client' | 'kubeconfig'>,
  { namespace, watchFilter }: { readonly namespace: string; readonly watchFilter?: string },
): Promise<NamedOperator> {
  const rights = await ShippedRights.grant({ client, kubeconfig, namespace, watchNamespace: namespace, account });
  const operator = await startOperator({ rights, ...definedOnly({ watchFilter }) });
  const stop = async (): Promise<void> => {
    await operator.stop();
    await rights.end();
  };
  return { ...operator, user: rights.user, stop };
}
