import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { splitCertificates } from '../../pki/pem.ts';

type Condition = NonNullable<NonNullable<CertificateRequestObject['status']>['conditions']>[number];

/** The progress of a request. */
export type RequestState =
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'refused'; readonly message: string; readonly at: Date }
  | { readonly kind: 'pending'; readonly message: string };

/**
 * The state from a request's conditions. Approvers and signers write to the same list.
 * @param problemOf the problem with a certificate, for users; undefined if it is usable
 */
export function stateOf(
  request: CertificateRequestObject,
  problemOf: (certificate: string) => string | undefined,
): RequestState {
  const { metadata } = request;
  const status = request.status ?? {};
  const find = (type: string) => itemsOf(status.conditions).find((condition) => condition.type === type);
  const ready = find('Ready');
  const refused = (why: string, { message, lastTransitionTime }: Condition = {}): RequestState => ({
    kind: 'refused',
    message: [why, message].filter(Boolean).join(': '),
    at: new Date(status.failureTime ?? lastTransitionTime ?? metadata.creationTimestamp ?? 0),
  });

  const denied = isTrue(find('Denied'));
  if (denied) return refused('was denied', denied);
  const invalid = isTrue(find('InvalidRequest'));
  if (invalid) return refused('was rejected as invalid', invalid);
  if (ready?.status === 'False' && (ready.reason === 'Failed' || ready.reason === 'Denied')) {
    return refused('has failed', ready);
  }

  const encoded = textOf(status.certificate);
  if (isTrue(ready) && encoded) {
    const [certificate] = splitCertificates(Buffer.from(encoded, 'base64').toString('utf8'));
    const problem = certificate === undefined ? 'it is not a certificate in PEM' : problemOf(certificate);
    if (certificate === undefined || problem) {
      return refused('returned an unusable certificate', { ...ready, message: problem ?? '' });
    }
    return { kind: 'issued', certificate };
  }

  if (ready?.message) return { kind: 'pending', message: ready.message };
  return { kind: 'pending', message: isTrue(find('Approved')) ? unsigned : unapproved };
}

const unapproved = 'it is not approved yet; if approver-policy is installed, a CertificateRequestPolicy must allow it';
const unsigned = 'it is approved but not signed yet; check that the controller of the issuer runs';

function isTrue(condition: Condition | undefined): Condition | undefined {
  return condition?.status === 'True' ? condition : undefined;
}
