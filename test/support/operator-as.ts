import { connectionFor } from '../../reconciler/kube/config.ts';
import { issueCertificate, validFor } from '../../reconciler/pki/issue.ts';
import type { ApiServer } from './api-server.ts';
import { startOperator, type TestOperator } from './operator.ts';

/** Starts an operator as an administrator of its own name, by which an audit log tells its requests apart. */
export async function startOperatorAs(
  user: string,
  server: ApiServer,
  options: { readonly namespace?: string; readonly watchFilter?: string },
): Promise<TestOperator> {
  const { certificateAuthority, ...target } = server.target;
  const administrator = { commonName: user, organizations: ['system:masters'], usages: ['client'], hosts: [] } as const;
  const validity = validFor(24 * 60 * 60_000, new Date());
  const { certificate, key } = await issueCertificate(administrator, certificateAuthority, validity);
  const through = () => connectionFor({ ...target, cert: certificate, key });
  return startOperator({ kubeconfig: server.kubeconfig, through, ...options });
}
