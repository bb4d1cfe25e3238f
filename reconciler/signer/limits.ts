import type { KubeObject } from '../kube/object.ts';
import { type ClientCertificateRequest, clusterOf, isAnswered, kept } from './request.ts';

/** How many requests wait with their content in memory. Each takes at most some 20 KiB, and is answered within a second. */
export const waitingLimits = { perRequester: 50, perNamespace: 100, all: 500 } as const;

interface Place {
  readonly requester: string;
  /** The one that the request names, which need not exist. */
  readonly namespace: string;
}

/**
 * What the operator keeps of requests, which people create without a limit: of those beyond the limits of their requester or
 * namespace only that they exist, so that they can be denied.
 */
export class RequestLimits {
  readonly #waiting = new Map<string, Place>();

  keep(object: KubeObject): ClientCertificateRequest {
    const request = kept(object);
    const { uid = '' } = request.metadata;
    if (isAnswered(request)) {
      this.#waiting.delete(uid);
      return request;
    }
    const place = { requester: request.spec.username ?? '', namespace: clusterOf(request)?.namespace ?? '' };
    if (!this.#waiting.has(uid) && this.#isFull(place)) return beyond(request);
    this.#waiting.set(uid, place);
    return request;
  }

  /** A request that is gone. */
  forget({ uid = '' }: KubeObject['metadata']): void {
    this.#waiting.delete(uid);
  }

  #isFull({ requester, namespace }: Place): boolean {
    const waiting = [...this.#waiting.values()];
    return (
      waiting.length >= waitingLimits.all ||
      waiting.filter((one) => one.requester === requester).length >= waitingLimits.perRequester ||
      waiting.filter((one) => one.namespace === namespace).length >= waitingLimits.perNamespace
    );
  }
}

function beyond({ apiVersion, kind, metadata, spec, status = {} }: ClientCertificateRequest): ClientCertificateRequest {
  const conditions = status.conditions?.map(({ type }) => ({ type }));
  const { signerName } = spec;
  return { apiVersion, kind, metadata, spec: { signerName, request: '' }, status: { conditions }, isBeyond: true };
}
