import type { CertificateRequestObject } from '../../../imports/cert-manager.ts';
import { backOff } from '../../kube/back-off.ts';
import type { IssuerRef } from '../../../constructs/api/certificates-spec.ts';
import { describeObject } from '../../kube/object.ts';
import { attemptOf, isTo } from './certificate-request.ts';
import { stateOf } from './request-state.ts';

/** The input of a decision. */
export interface IssuerQuestion {
  /** All existing requests for this Secret. */
  readonly requests: readonly CertificateRequestObject[];
  readonly secret: string;
  readonly keyHash: string;
  readonly issuerRef: IssuerRef;
  readonly problemOf: (certificate: string) => string | undefined;
  readonly now: Date;
}

/** What to do about a CA that an issuer is to sign. */
export type IssuerDecision =
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
export function decide(question: IssuerQuestion): IssuerDecision {
  const { requests, secret, keyHash, issuerRef, problemOf, now } = question;
  const attempt = (request: CertificateRequestObject) => attemptOf(request, secret, keyHash) ?? 0;
  const newest = requests
    .filter((request) => attempt(request) > 0 && isTo(request, issuerRef))
    .sort((a, b) => attempt(b) - attempt(a))[0];
  const outdated = requests.filter((request) => request !== newest);
  const next = Math.max(0, ...requests.map(attempt)) + 1;
  if (!newest) return { kind: 'ask', attempt: next, outdated };

  const state = stateOf(newest, problemOf);
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
