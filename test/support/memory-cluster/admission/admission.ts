import type { Resource } from '../../../../constructs/api/resources.ts';
import type { KubeError } from '../../../../reconciler/kube/errors.ts';
import type { AnyFields } from '../api-server.ts';
import type { Store } from '../store.ts';

/** A write that an API server has understood, and has not stored yet. */
export interface AdmissionRequest {
  readonly resource: Resource;
  /** What would be stored. */
  readonly object: AnyFields;
  /** What is stored; undefined for an object that the request creates. */
  readonly stored: AnyFields | undefined;
  /** By default the object itself is written. */
  readonly subresource?: string | undefined;
  /** The field manager of the client; undefined for a controller of Kubernetes. */
  readonly fieldManager?: string | undefined;
  /** All objects before the request. */
  readonly store: Store;
  /** The answer 403 of a plugin, for a reason such as `exceeded quota`. */
  readonly forbidden: (reason: string, causes?: KubeError['causes']) => KubeError;
}

/** One admission plugin: returns the object as it is to be stored. @throws what the API server answers to a refused request */
export type AdmissionStep = (request: AdmissionRequest) => AnyFields;
