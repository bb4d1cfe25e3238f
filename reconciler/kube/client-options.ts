import type { Resource } from '../../constructs/api/resources.ts';
import type { KubeObject } from './object.ts';
import type { RequestRecord } from './request.ts';

/** What every call accepts. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Limit for this call in milliseconds. By default the client's. */
  readonly deadlineMs?: number | undefined;
}

/** Which objects of a resource to list or watch. By default all of them in all namespaces. */
export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Of each object only its metadata. By default all of it. */
  readonly metadataOnly?: boolean | undefined;
}

/** What a server-side apply needs besides the object. */
export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers instead of failing with a conflict. By default false. */
  readonly force?: boolean | undefined;
  readonly subresource?: string | undefined;
  /** Go through admission and validation without storing anything. By default false. */
  readonly dryRun?: boolean | undefined;
  /** For kinds that are not in the resource table, such as an infrastructure cluster. */
  readonly resource?: Resource | undefined;
}

/** What a create needs besides the object. */
export interface CreateOptions extends CallOptions {
  readonly fieldManager: string;
}

/** How to merge a patch. */
export interface MergePatchOptions extends CallOptions {
  readonly fieldManager: string;
  /** Fail with a conflict unless the object still is at this version. By default it may be at any. */
  readonly resourceVersion?: string | undefined;
  readonly subresource?: string | undefined;
  /** Of the answer only its metadata. By default all of it. */
  readonly metadataOnly?: boolean | undefined;
}

/** How to delete. */
export interface DeleteOptions extends CallOptions {
  /** By default the kind's own, which is Background for nearly all. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  /** Fail with a conflict when another object has taken the name meanwhile. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** What to watch and for how long. `deadlineMs` limits the wait for the beginning of the answer. */
export interface WatchOptions extends Selection, CallOptions {
  /** Begin after this version; by default with the present objects as ADDED events. */
  readonly resourceVersion?: string | undefined;
  /** After this time the server ends the watch. By default 120 s. */
  readonly timeoutSeconds?: number | undefined;
  /**
   * The longest silence in milliseconds. By default 15 s longer than the watch lasts: only its end is sure to be heard,
   * for the server sends no bookmarks while the resource has not changed since the server was started.
   */
  readonly inactivityMs?: number | undefined;
}

/** A consistent list: a watch from its version misses nothing. */
export interface ObjectList<T extends KubeObject> {
  readonly items: T[];
  readonly resourceVersion: string;
}

/** How a client behaves. */
export interface KubeClientOptions {
  /** Limit for one call in milliseconds. By default 30 s. */
  readonly deadlineMs?: number;
  /** Called once per request sent, so also for a second try. By default nobody counts. */
  readonly onRequest?: (record: RequestRecord) => void;
}
