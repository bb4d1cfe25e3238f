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

const repeatAfterMs = 10 * 60_000;
const longestNoteBytes = 1024;

/** Records events, each at most once in ten minutes, without blocking the caller. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  /** Recorded event → time, in order of time, so that the oldest are first. */
  readonly #recorded = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Records in the background. Drops an event with the same reason and note on the same object within ten minutes. */
  record(object: KubeObject, note: EventNote): void {
    const now = this.#options.clock.now();
    this.#forgetBefore(now - repeatAfterMs);
    const key = JSON.stringify([identityOf(object), object.metadata.uid, note.reason, note.note]);
    if (this.#recorded.has(key)) return;
    this.#recorded.set(key, now);
    const writing = this.#write(renderEvent(object, note, now, this.#sequence++, this.#options)).catch(
      (error: unknown) => {
        this.#recorded.delete(key);
        this.#options.onError?.(error);
      },
    );
    this.#pending.add(writing);
    void writing.finally(() => this.#pending.delete(writing));
  }

  /** Resolves when all events recorded so far are written or have failed. */
  async flush(): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #write(event: KubeObject): Promise<void> {
    await this.#options.client.create(event, { fieldManager: this.#options.reportingController });
  }

  #forgetBefore(time: number): void {
    for (const [key, at] of this.#recorded) {
      if (at > time) return;
      this.#recorded.delete(key);
    }
  }
}

/**
 * The Event object. Its name consists of the object's name and the time, as in every Kubernetes component.
 * @param sequence distinguishes events of the same millisecond
 */
export function renderEvent(
  object: KubeObject,
  note: EventNote,
  now: number,
  sequence: number,
  reporter: Pick<EventRecorderOptions, 'reportingController' | 'reportingInstance'>,
): KubeObject & Readonly<Record<string, unknown>> {
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const suffix = `.${now.toString(16)}.${sequence.toString(16)}`;
  return {
    apiVersion: Event.apiVersion,
    kind: Event.kind,
    // Events of cluster-scoped objects are in `default`.
    metadata: { name: name.slice(0, 253 - suffix.length) + suffix, namespace: namespace ?? 'default' },
    eventTime: microTime(now),
    type: note.type,
    reason: note.reason,
    action: note.action,
    note: truncated(note.note, longestNoteBytes),
    regarding: { apiVersion: object.apiVersion, kind: object.kind, name, namespace, uid, resourceVersion },
    reportingController: reporter.reportingController,
    reportingInstance: reporter.reportingInstance.slice(0, 128),
  };
}
