import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { backOff } from '../../kube/back-off.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { describeObject } from '../../kube/object.ts';
import { splitCertificates } from '../../pki/pem.ts';
import { attemptOf, isTo } from './certificate-request.ts';

/** The input of a decision. */
export interface RequestInput {
  /** All existing requests for this Secret. */
  readonly requests: readonly CertificateRequestObject[];
  readonly secret: string;
  readonly keyHash: string;
  readonly issuerRef: IssuerRef;
  readonly problemOf: (certificate: string) => string | undefined;
  readonly now: Date;
}

/** What to do about a CA that an issuer is to sign. */
type RequestDecision =
  | { readonly kind: 'ask'; readonly attempt: number; readonly outdated: readonly CertificateRequestObject[] }
  | {
      readonly kind: 'wait';
      readonly message: string;
      /** When to ask again; unset if an event triggers it. */
      readonly requeueAt?: Date | undefined;
      readonly outdated: readonly CertificateRequestObject[];
    }
  | { readonly kind: 'take'; readonly certificate: string };

/**
 * The newest request for this key to this issuer counts. A refused request is repeated after a delay, because no event
 * reports corrected policies and issuers. It stays until then, so that it can be read.
 */
export function planRequest(input: RequestInput): RequestDecision {
  const { requests, secret, keyHash, issuerRef, problemOf, now } = input;
  const attempt = (request: CertificateRequestObject) => attemptOf(request, secret, keyHash) ?? 0;
  const newest = requests
    .filter((request) => attempt(request) > 0 && isTo(request, issuerRef))
    .sort((a, b) => attempt(b) - attempt(a))[0];
  const outdated = requests.filter((request) => request !== newest);
  const next = Math.max(0, ...requests.map(attempt)) + 1;
  if (!newest) return { kind: 'ask', attempt: next, outdated };

  const state = progressOf(newest, problemOf);
  if (state.kind === 'issued') return { kind: 'take', certificate: state.certificate };
  const name = describeObject(newest);
  if (state.kind === 'pending') {
    const { kind, name: issuer } = issuerRef;
    return { kind: 'wait', message: `${name} waits for ${kind} ${issuer}: ${state.message}`, outdated };
  }
  const requeueAt = new Date(state.at.getTime() + backOffMs(attempt(newest)));
  if (now >= requeueAt) return { kind: 'ask', attempt: next, outdated: requests };
  return {
    kind: 'wait',
    message: `${name} ${state.message}; the operator creates a new request at ${requeueAt.toISOString()}, or immediately after you delete this one`,
    requeueAt,
    outdated,
  };
}

const minuteMs = 60_000;

/** Five minutes, doubled after each further refusal, at most six hours. */
export function backOffMs(attempt: number): number {
  return backOff({ firstMs: 5 * minuteMs, longestMs: 360 * minuteMs }, attempt);
}

type Condition = NonNullable<NonNullable<CertificateRequestObject['status']>['conditions']>[number];

/** The progress of a request. */
type RequestProgress =
  | { readonly kind: 'issued'; readonly certificate: string }
  | { readonly kind: 'refused'; readonly message: string; readonly at: Date }
  | { readonly kind: 'pending'; readonly message: string };

/**
 * Reads the conditions of a request. Approvers and signers write to the same list.
 * @param problemOf the problem with a certificate, for users; undefined if it is usable
 */
export function progressOf(
  request: CertificateRequestObject,
  problemOf: (certificate: string) => string | undefined,
): RequestProgress {
  const { metadata } = request;
  const status = request.status ?? {};
  const find = (type: string) => itemsOf(status.conditions).find((condition) => condition.type === type);
  const ready = find('Ready');
  const refused = (why: string, { message, lastTransitionTime }: Condition = {}): RequestProgress => ({
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
