import { z } from 'zod';
import { backupIdentityAnnotation, backupTokenServicesAnnotation } from '../../../constructs/api/group.ts';
import { ServiceAccount } from '../../../constructs/api/resources.ts';
import { providerNames } from '../../../constructs/cluster/provider-names.ts';
import type { KubeClient } from '../../kube/client.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/object.ts';
import { listed } from '../../clusters/management/listed.ts';

/** A request for the token with which a HostedControlPlane signs in to its backup store. */
export interface TokenRequest {
  readonly hostedControlPlane: { readonly namespace: string; readonly name: string };
  /** Name of the ServiceAccount in the same namespace. */
  readonly serviceAccount: string;
  readonly audience: string;
  /** Host and port of the token service that gets the token; that of AWS when unset. */
  readonly tokenService?: string | undefined;
}

/** What decides whether the token is issued. */
interface TokenInput extends TokenRequest {
  readonly found: KubeObject | undefined;
  /** Audiences whose tokens the management API server accepts; unknown until the ServiceAccount is found suitable. */
  readonly apiAudiences?: readonly string[];
}

/**
 * Why the token is not issued, as a sentence for the user. The author of a HostedControlPlane chooses the ServiceAccount
 * and the server that receives its token. Therefore annotations of the ServiceAccount must name the HostedControlPlane and that server,
 * and the management API server must not accept the token.
 */
function tokenRefusal({
  hostedControlPlane: { namespace, name },
  serviceAccount,
  audience,
  tokenService,
  found,
  apiAudiences = [],
}: TokenInput): string | undefined {
  const account = `ServiceAccount ${namespace}/${serviceAccount}`;
  if (!found) return `${account} does not exist: create it, or correct etcd.backup.webIdentity.serviceAccountName`;
  if (!listed(found.metadata, backupIdentityAnnotation).includes(name))
    return `${account} does not let HostedControlPlane ${name} use its tokens: set its annotation ${backupIdentityAnnotation}: ${name}`;
  if (tokenService !== undefined && !listed(found.metadata, backupTokenServicesAnnotation).includes(tokenService))
    return `${account} does not let its tokens be sent to ${tokenService}: add ${tokenService} to its annotation ${backupTokenServicesAnnotation}`;
  if (apiAudiences.includes(audience))
    return `the management cluster itself accepts tokens for ${audience}: set etcd.backup.webIdentity.audience to the audience of the token service`;
  return undefined;
}

/**
 * A new token of the ServiceAccount. The API server's audiences are those of a token without a requested one, which is
 * dropped.
 * @throws an error with a sentence for the user
 */
export async function serviceAccountTokenFor(
  request: TokenRequest,
  client: Pick<KubeClient, 'find' | 'serviceAccountToken'>,
): Promise<string> {
  const { hostedControlPlane, serviceAccount, audience } = request;
  const account = { namespace: hostedControlPlane.namespace, name: serviceAccount };
  const refuse = (input: TokenInput): void => {
    const refusal = tokenRefusal(input);
    if (refusal !== undefined) throw new Error(refusal);
  };
  try {
    const found = await client.find(ServiceAccount, account);
    refuse({ ...request, found });
    const apiAudiences = audiencesOf(await client.serviceAccountToken(account));
    refuse({ ...request, found, apiAudiences });
    return await client.serviceAccountToken(account, audience);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(
      `the operator may not issue tokens of ServiceAccounts in namespace ${account.namespace}: bind ClusterRole ${providerNames.backupIdentityRole} to its ServiceAccount there`,
      { cause: error },
    );
  }
}

const Claims = z.object({ aud: z.union([z.string(), z.array(z.string())]) });

/** @throws if the token names no audience, without the token in the message */
function audiencesOf(token: string): readonly string[] {
  const [, payload = ''] = token.split('.');
  const text = Buffer.from(payload, 'base64url').toString('utf8');
  try {
    return [Claims.parse(JSON.parse(text)).aud].flat();
  } catch {
    throw new Error('the management API server issued a token that names no audience: check its --api-audiences');
  }
}
