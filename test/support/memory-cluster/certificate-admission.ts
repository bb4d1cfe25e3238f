import { isDeepStrictEqual } from 'node:util';
import { CertificateSigningRequest, groupOf, type Resource, Signer } from '../../../constructs/api/resources.ts';
import type { ResourceRequest } from './authorizer.ts';

/** The rights one of which a user needs besides that to write the subresource, and what a refusal says. */
export interface SignerRight {
  readonly requests: readonly ResourceRequest[];
  readonly why: string;
}

/** What a write to a CertificateSigningRequest needs, as the admission plugins CertificateApproval and CertificateSigning see it. */
export function signerRight(
  resource: Resource,
  live: object,
  written: object,
  subresource: string | undefined,
): SignerRight | undefined {
  if (resource !== CertificateSigningRequest) return undefined;
  if (subresource === 'approval') return rightTo('approve', live);
  return subresource === 'status' && isAnswer(live, written) ? rightTo('sign', live) : undefined;
}

interface Answered {
  readonly status?: { readonly certificate?: unknown; readonly conditions?: unknown };
}

function isAnswer({ status: live = {} }: Answered, { status = {} }: Answered): boolean {
  const isChanged = (field: 'certificate' | 'conditions') =>
    field in status && !isDeepStrictEqual(status[field], live[field]);
  return isChanged('certificate') || isChanged('conditions');
}

function rightTo(verb: 'approve' | 'sign', { spec = {} }: { spec?: { signerName?: string } }): SignerRight {
  const { signerName = '' } = spec;
  const names = [signerName, `${signerName.split('/')[0] ?? ''}/*`];
  const requests = names.map((name) => ({ verb, group: groupOf(Signer), resource: Signer.plural, name }));
  return { requests, why: `user not permitted to ${verb} requests with signerName "${signerName}"` };
}
