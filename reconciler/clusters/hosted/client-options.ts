import type { Clock } from '../../kube/clock.ts';
import type { RequestRecord } from '../../kube/request.ts';
import type { Destinations } from '../network/destinations.ts';
import type { OpenApi } from './open-api.ts';
import type { HostedRoom } from './rooms.ts';

/** Options of the client of one hosted cluster. */
export interface HostedClusterClientOptions {
  readonly clock: Clock;
  /** The memory for what it reads and holds. */
  readonly room: HostedRoom;
  /** Called after a change that may require a reconcile. */
  readonly onChange: () => void;
  /** Called when the operator has reverted a change of this object by another client. */
  readonly onRevert: (what: string) => void;
  /** Called when a watch was interrupted. It resumes automatically. */
  readonly onError: (error: unknown) => void;
  /** Called for every request to the hosted cluster. By default not called. */
  readonly onRequest?: ((record: RequestRecord) => void) | undefined;
  /** Where the endpoint may be. By default anywhere. */
  readonly destinations?: Destinations | undefined;
  /** Called for everything that an API server sends, before it is read. By default not called. */
  readonly onBytes?: (() => void) | undefined;
  /** Opens a client of an API server. By default it connects over the network. */
  readonly open?: OpenApi | undefined;
}
