import { Event } from '../../constructs/api/resources.ts';
import type { KubernetesApi } from './client.ts';
import type { Clock } from './clock.ts';
import { microTime } from './micro-time.ts';
import { identityOf, type KubeObject } from './object.ts';
import { truncated } from './truncated.ts';

/** An event for readers of the object. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning';
  /** Reason in PascalCase: `CertificateRenewed`. */
  readonly reason: string;
  /** Action in PascalCase: `RenewCertificate`. */
  readonly action: string;
  /** One sentence. It is truncated to 1 kB, which is the server's limit. */
  readonly note: string;
}

/** Options of a recorder. */
export interface EventRecorderOptions {
  readonly client: KubernetesApi;
  readonly clock: Clock;
  /** Name of the controller, qualified by a domain. */
  readonly reportingController: string;
  /** Name of this process. */
  readonly reportingInstance: string;
  /** Called for events that could not be written, which are lost. */
  readonly onError?: (error: unknown) => void;
}

/** So long after the last time an event counts as the same one. */
const seriesMs = 10 * 60_000;
const longestNoteBytes = 1024;

/** One Event, and how often what it says has happened. */
interface Recorded {
  /** Only what the Event names of it. */
  readonly object: KubeObject;
  readonly first: EventStart;
  count: number;
  last: number;
  /** Ends with the newest write. */
  written: Promise<void>;
}

/** Time of an event, and a number that distinguishes events of the same millisecond. */
export interface EventStart {
  readonly time: number;
  readonly sequence: number;
}

/** How often an event has happened since its start, and when last. */
export interface EventSeries {
  readonly count: number;
  readonly lastTime: number;
}

/**
 * Records events without blocking the caller. What happens again within ten minutes is counted in the Event of the first
 * time, so that a problem that comes and goes fills no list.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** In order of the last time, so that the oldest are first. */
  readonly #recorded = new Map<string, Recorded>();
  readonly #pending = new Set<Promise<void>>();
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Records in the background. Every call is one more time that it has happened. */
  record(object: KubeObject, note: EventNote): void {
    const now = this.#options.clock.now();
    this.#forgetBefore(now - seriesMs);
    const key = JSON.stringify([identityOf(object), object.metadata.uid, note]);
    const recorded = this.#recorded.get(key) ?? this.#start(object, now);
    recorded.count += 1;
    recorded.last = now;
    this.#recorded.delete(key);
    this.#recorded.set(key, recorded);

    const { first, count } = recorded;
    const series = count > 1 ? { count, lastTime: now } : undefined;
    const event = renderEvent(recorded.object, note, first, this.#options, series);
    // One after the other, because the one that ends last determines the count.
    const writing = recorded.written
      .then(() => this.#write(event))
      .catch((error: unknown) => {
        this.#recorded.delete(key);
        this.#options.onError?.(error);
      });
    recorded.written = writing;
    this.#pending.add(writing);
    void writing.finally(() => this.#pending.delete(writing));
  }

  /** Resolves when all events recorded so far are written or have failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #start(object: KubeObject, now: number): Recorded {
    const first = { time: now, sequence: this.#sequence++ };
    return { object: referenceTo(object), first, count: 0, last: now, written: Promise.resolve() };
  }

  async #write(event: KubeObject): Promise<void> {
    await this.#options.client.apply(event, { fieldManager: this.#options.reportingController, force: true });
  }

  #forgetBefore(time: number): void {
    for (const [key, { last }] of this.#recorded) {
      if (last > time) return;
      this.#recorded.delete(key);
    }
  }
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

/**
 * The Event object. Its name consists of the object's name and the time, as in every Kubernetes component.
 * @param series undefined for the first time
 */
export function renderEvent(
  object: KubeObject,
  note: EventNote,
  { time, sequence }: EventStart,
  reporter: Pick<EventRecorderOptions, 'reportingController' | 'reportingInstance'>,
  series?: EventSeries,
): KubeObject & Readonly<Record<string, unknown>> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const suffix = `.${time.toString(16)}.${sequence.toString(16)}`;
  return {
    apiVersion: Event.apiVersion,
    kind: Event.kind,
    // Events of cluster-scoped objects are in `default`.
    metadata: { name: name.slice(0, 253 - suffix.length) + suffix, namespace: namespace ?? 'default' },
    eventTime: microTime(time),
    ...(series && { series: { count: series.count, lastObservedTime: microTime(series.lastTime) } }),
    type: note.type,
    reason: note.reason,
    action: note.action,
    note: truncated(note.note, longestNoteBytes),
    regarding: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
    reportingController: reporter.reportingController,
    reportingInstance: reporter.reportingInstance.slice(0, 128),
  };
}
