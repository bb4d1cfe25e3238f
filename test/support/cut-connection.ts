import type { Dispatcher } from 'undici';
import type { Connection } from '../../reconciler/kube/config.ts';

/** A connection that fails from an exact request on, as if its process had been killed there. */
export interface CutConnection {
  readonly connection: Connection;
  /** Whether it is cut; from then on no request reaches the server. */
  readonly isDead: () => boolean;
}

/** What a connection sees of a request. */
type Sent = Pick<Dispatcher.DispatchOptions, 'method' | 'path'>;

/**
 * Allows `writes` writes and no request after the last of them. Event requests are not counted: the recorder sends them
 * concurrently, so the number sent before the cut varies.
 */
export function cutAfter(writes: number, inner: Connection): CutConnection {
  let left = writes;
  const isLast = ({ method, path }: Sent): boolean => {
    if (method !== 'GET' && !path.includes('/events')) left -= 1;
    return left <= 0;
  };
  return cutBehind(inner, isLast, left <= 0);
}

/** Allows requests until the one for which `isLast` is true, and none after it; none at all if it `isDead`. */
export function cutBehind(inner: Connection, isLast: (sent: Sent) => boolean, isDead = false): CutConnection {
  let dead = isDead;
  const cut: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    if (dead) throw new Error('killed');
    dead = isLast(options);
    return dispatch(options, handler);
  };
  const composed = new WeakMap<Dispatcher, Dispatcher>();
  const wrap = (dispatcher: Dispatcher): Dispatcher => {
    const known = composed.get(dispatcher) ?? dispatcher.compose(cut);
    composed.set(dispatcher, known);
    return known;
  };
  return {
    connection: { ...inner, dispatcher: () => wrap(inner.dispatcher()) },
    isDead: () => dead,
  };
}
