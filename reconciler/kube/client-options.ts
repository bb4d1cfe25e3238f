import type { Resource } from '../../constructs/api/resources.ts';
import type { ServerAnswers } from './answer-budget.ts';
import type { CacheBudget } from './cache-budget.ts';
import type { Clock } from './clock.ts';
import type { DatedAnswer } from './compared-clock.ts';
import type { KubeObject } from './object.ts';
import type { ReadingSpeed } from './reading-speed.ts';
import type { RequestRecord } from './request.ts';
import type { ValueLimits } from './value-counter.ts';

/** Options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Time limit of this call in milliseconds. By default that of the client. */
  readonly deadlineMs?: number | undefined;
}

/** Options of a request for any path. */
export interface RawOptions extends CallOptions {
  /** Maximum size of the answer. By default that of the client. */
  readonly longestBytes?: number | undefined;
}

/** Which objects of a resource to list or watch. By default all of them in all namespaces. */
export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** Only the metadata of each object. By default the whole object. */
  readonly metadataOnly?: boolean | undefined;
}

/** Options of a list. */
export interface ListOptions<T extends KubeObject> extends Selection, CallOptions {
  /**
   * Called for each attempt; its result is called for each object as soon as it arrives, and returns what is kept of
   * it. An error ends the list. By default everything is kept.
   */
  readonly keeper?: (() => (object: T) => T) | undefined;
}

/** Options of a list that is read page by page. */
export interface PageOptions extends Selection, CallOptions {
  /** The most objects in one page. By default 500. */
  readonly limit?: number;
}

/** Options of a server-side apply. */
export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Take fields over from other managers instead of failing with a conflict. By default false. */
  readonly force?: boolean | undefined;
  readonly subresource?: string | undefined;
  /** Run admission and validation without storing the object. By default false. */
  readonly dryRun?: boolean | undefined;
  /** For kinds that are not in the resource table, such as an infrastructure cluster. */
  readonly resource?: Resource | undefined;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  readonly fieldManager: string;
  /** Run admission and validation without storing the object. By default false. */
  readonly dryRun?: boolean | undefined;
}

/** Options of a merge patch. */
export interface MergePatchOptions extends CallOptions {
  readonly fieldManager: string;
  /** Fail with a conflict unless the object has this version. By default any version. */
  readonly resourceVersion?: string | undefined;
  readonly subresource?: string | undefined;
  /** Only the metadata of the response. By default the whole object. */
  readonly metadataOnly?: boolean | undefined;
}

/** Options of a delete. */
export interface DeleteOptions extends CallOptions {
  /** By default that of the kind, which is Background for nearly all kinds. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  /** Fail with a conflict when another object has the name meanwhile. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

/** Options of a watch. `deadlineMs` limits the time until the response starts. */
export interface WatchOptions extends Selection, CallOptions {
  /** Start after this version; by default with the existing objects as ADDED events. */
  readonly resourceVersion?: string | undefined;
  /** Time after which the server ends the watch. By default 120 s. */
  readonly timeoutSeconds?: number | undefined;
  /** Time without a byte, in milliseconds, after which it ends with the reason `Silent`. By default {@link longestSilenceMs}. */
  readonly silenceMs?: number | undefined;
}

/** A consistent list: a watch from its version misses no change. */
export interface ObjectList<T extends KubeObject> {
  readonly items: T[];
  readonly resourceVersion: string;
}

/** Options of a client. */
export interface KubeClientOptions {
  /** Time limit of one call in milliseconds. By default 30 s. */
  readonly deadlineMs?: number;
  /** Maximum size of one answer, and of one line of a watch. By default 32 MiB. */
  readonly maxBytes?: number;
  /** What one JSON answer, and one line of a watch, may contain. By default a million values. */
  readonly values?: ValueLimits;
  /** The room for all answers that are being read. By default without limit. */
  readonly answers?: ServerAnswers;
  /** The room for the objects of one list. By default without limit. */
  readonly held?: CacheBudget;
  /** By which the silence of watches is measured. By default that of the machine. */
  readonly clock?: Clock;
  /** How fast everything is read. By default as fast as the server sends. */
  readonly speed?: ReadingSpeed;
  /** Called with what each answer says about the clock of the server. By default not called. */
  readonly onAnswer?: (answer: DatedAnswer) => void;
  /** Called for each part of an answer that arrives, before it is read. By default not called. */
  readonly onBytes?: () => void;
  /** Called for every request, including retries. By default not called. */
  readonly onRequest?: (record: RequestRecord) => void;
}
