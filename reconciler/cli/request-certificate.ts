import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { kubeconfigSigner, kubeconfigUsages, requestLabels } from '../../constructs/api/kubeconfig-request.ts';
import { CertificateSigningRequest } from '../../constructs/api/resources.ts';
import { providerNames } from '../../constructs/cluster/provider-names.ts';
import { isForbidden } from '../kube/errors.ts';
import { isKeyOf, readCertificate } from '../pki/certificate.ts';
import { createKey } from '../pki/key.ts';
import { bundle, splitCertificates } from '../pki/pem.ts';
import { createClientRequest } from '../pki/signing-request.ts';
import type { ClientCertificateRequest } from '../signer/request.ts';
import { spanText } from './format.ts';
import { type Session, cliFieldManager } from './command.ts';

/** What a certificate is requested for. */
interface Wanted {
  readonly cluster: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly lifetimeMs: number;
}

/** A client certificate with its key, and the CA certificates by which its holder verifies the API server; all PEM. */
interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

const pollMs = 250;
/** The operator answers in less than a second; after a crash another instance takes over in 30 s. */
const patienceMs = 60_000;

/**
 * Requests a client certificate from the operator, with a key that stays on this machine, and waits for the answer.
 * @throws when it is denied, with the reason, or when no operator answers
 */
export async function requestCertificate(session: Session, wanted: Wanted): Promise<ClientCertificate> {
  const key = createKey();
  const name = await create(session, wanted, await createClientRequest(wanted.user, wanted.groups, key));
  const [certificate = '', ...ca] = splitCertificates(await answerTo(session, name));
  refuseOther(certificate, key, wanted);
  return { certificate, key, ca: bundle(...ca) };
}

/** Every operator of the management cluster may sign: one that is broken must not pass off another user's certificate. */
function refuseOther(certificate: string, key: string, { user, groups }: Wanted): void {
  const { commonNames, organizations } = readCertificate(certificate);
  const isWanted = isDeepStrictEqual([commonNames, organizations.toSorted()], [[user], groups.toSorted()]);
  if (isWanted && isKeyOf(certificate, key)) return;
  throw new Error('the operator has signed another certificate than the requested one: check which operators run');
}

async function create({ client, namespace }: Session, wanted: Wanted, request: string): Promise<string> {
  const { apiVersion, kind } = CertificateSigningRequest;
  const { cluster, lifetimeMs } = wanted;
  const name = `kubeconfig-${cluster}-${randomUUID()}`;
  const object: ClientCertificateRequest = {
    apiVersion,
    kind,
    metadata: { name, labels: requestLabels(namespace, cluster) },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: kubeconfigSigner,
      usages: kubeconfigUsages,
      expirationSeconds: Math.floor(lifetimeMs / 1000),
    },
  };
  try {
    await client.create(object, cliFieldManager);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    throw new Error(
      `you may not create CertificateSigningRequests in the management cluster: ClusterRole ${providerNames.kubeconfigRequestRole} permits it, which an administrator binds with a ClusterRoleBinding`,
      { cause: error },
    );
  }
  return name;
}

/** PEM of what the operator has signed. */
async function answerTo({ client, now, pause, terminal }: Session, name: string): Promise<string> {
  const begin = now();
  let isWaiting = false;
  for (;;) {
    const { status = {} } = await client.get<ClientCertificateRequest>(CertificateSigningRequest, { name });
    if (status.certificate) return Buffer.from(status.certificate, 'base64').toString('utf8');
    const refusal = status.conditions?.find(({ type }) => type === 'Denied' || type === 'Failed');
    if (refusal)
      throw new Error(`the operator signs no certificate: ${refusal.message ?? ''} (${refusal.reason ?? ''})`);
    const waited = now() - begin;
    if (waited > patienceMs) {
      throw new Error(
        `no operator has answered CertificateSigningRequest ${name} for ${spanText(waited)}: check that the operator runs, with the permissions of its newest release`,
      );
    }
    if (waited > 2_000 && !isWaiting) {
      isWaiting = true;
      terminal.info(`CertificateSigningRequest ${name} waits for the operator, for at most ${spanText(patienceMs)}`);
    }
    await pause(pollMs);
  }
}
