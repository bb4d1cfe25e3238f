import type { Resource } from '../../../constructs/api/resources.ts';
import { backOff } from '../../kube/back-off.ts';
import type { KubernetesApi } from '../../kube/client.ts';
import type { Clock } from '../../kube/clock.ts';
import { tooLarge } from '../../kube/errors.ts';
import type { Selection } from '../../kube/client-options.ts';
import type { KubeObject } from '../../kube/object.ts';
import { weightOf } from '../../kube/weight.ts';
import type { NamespaceRooms } from './namespace-rooms.ts';

/** The objects of one kind that the operator holds. */
export interface HeldKind extends Pick<Selection, 'labelSelector'> {
  readonly resource: Resource;
}

export interface CrowdedNamespacesOptions {
  readonly client: Pick<KubernetesApi, 'list'>;
  readonly clock: Clock;
  readonly rooms: readonly { readonly room: NamespaceRooms; readonly kinds: readonly HeldKind[] }[];
  /** Lists all objects of all namespaces again. Resolves when they are held. */
  readonly relist: () => Promise<void>;
  /** Called with a namespace of which everything is held again. */
  readonly onOpened: (namespace: string) => void;
  readonly onError: (error: unknown) => void;
}

/** To list everything again costs as much as a start of the operator. */
const delays = { firstMs: 60_000, longestMs: 15 * 60_000 };
/** Without a crowded namespace for so long, which is longer than any delay, the back-off starts again at its first delay. */
const quietMs = 60 * 60_000;

/** Looks now and then whether the objects of crowded namespaces have become fewer, and has everything listed again then. */
export class CrowdedNamespaces {
  readonly #options: CrowdedNamespacesOptions;
  #checks = 0;
  #checkedAt = -Infinity;
  #cancel: (() => void) | undefined;
  readonly #stopping = new AbortController();

  constructor(options: CrowdedNamespacesOptions) {
    this.#options = options;
  }

  /** A namespace has become crowded. */
  note(): void {
    if (this.#cancel || this.#stopping.signal.aborted) return;
    const { clock } = this.#options;
    if (clock.elapsed() - this.#checkedAt > quietMs) this.#checks = 0;
    this.#cancel = clock.setTimer(backOff(delays, ++this.#checks), () => void this.#check());
  }

  stop(): void {
    this.#stopping.abort();
    this.#cancel?.();
  }

  async #check(): Promise<void> {
    const { rooms, relist, onError, onOpened, clock } = this.#options;
    try {
      const fitting = await Promise.all(rooms.map((one) => this.#hasFitting(one)));
      if (fitting.includes(true)) {
        for (const { room } of rooms) room.begin();
        await relist();
        const opened = new Set(rooms.flatMap(({ room }) => room.end()));
        for (const namespace of opened) onOpened(namespace);
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) onError(error);
    }
    this.#cancel = undefined;
    this.#checkedAt = clock.elapsed();
    if (rooms.some(({ room }) => room.crowded.length > 0)) this.note();
  }

  async #hasFitting({ room, kinds }: CrowdedNamespacesOptions['rooms'][number]): Promise<boolean> {
    for (const namespace of room.crowded) if (await this.#fits(kinds, namespace, room.roomOf(namespace))) return true;
    return false;
  }

  /** Whether all objects of the namespace have so much room together. No more of them is read, and nothing is kept. */
  async #fits(kinds: readonly HeldKind[], namespace: string, bytes: number): Promise<boolean> {
    let left = bytes;
    const keeper = () => (object: KubeObject) => {
      left -= weightOf({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
      if (left < 0) throw tooLarge(`the objects of ${namespace} are more than the operator holds`);
      return { apiVersion: '', kind: '', metadata: { name: '' } };
    };
    const { signal } = this.#stopping;
    for (const { resource, labelSelector } of kinds) {
      await this.#options.client
        .list(resource, { namespace, labelSelector, keeper, signal })
        .catch((error: unknown) => {
          if (left >= 0) throw error;
        });
      if (left < 0) return false;
    }
    return true;
  }
}
