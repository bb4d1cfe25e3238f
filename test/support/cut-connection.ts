import type { Dispatcher } from 'undici';
import type { Connection } from '../../reconciler/kube/config.ts';

/** Lets a connection fail from an exact request on, as if its process had been killed there. */
export interface Cut {
  readonly interceptor: Dispatcher.DispatcherComposeInterceptor;
  /** Whether it is cut; from then on no request reaches the server. */
  readonly isDead: () => boolean;
}

/** What a connection sees of a request. */
type Sent = Pick<Dispatcher.DispatchOptions, 'method' | 'path'>;

/**
 * Allows `writes` writes and no request after the last of them. Event requests are not counted: the recorder sends them
 * concurrently, so the number sent before the cut varies.
 */
export function cutAfter(writes: number): Cut {
  let left = writes;
  const isLast = ({ method, path }: Sent): boolean => {
    if (method !== 'GET' && !path.includes('/events')) left -= 1;
    return left <= 0;
  };
  return cutBehind(isLast, left <= 0);
}

/** Allows requests until the one for which `isLast` is true, and none after it; none at all if it `isDead`. */
export function cutBehind(isLast: (sent: Sent) => boolean, isDead = false): Cut {
  let dead = isDead;
  return {
    isDead: () => dead,
    interceptor: (dispatch) => (options, handler) => {
      if (dead) throw new Error('killed');
      dead = isLast(options);
      return dispatch(options, handler);
    },
  };
}

/** Allows no request while `isCut` is true. */
export function cutWhile(isCut: () => boolean): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    if (isCut()) throw new Error('killed');
    return dispatch(options, handler);
  };
}

/** The connection, with an interceptor that sees each of its requests. */
export function interceptedBy(interceptor: Dispatcher.DispatcherComposeInterceptor, inner: Connection): Connection {
  const composed = new WeakMap<Dispatcher, Dispatcher>();
  const wrap = (dispatcher: Dispatcher): Dispatcher => {
    const known = composed.get(dispatcher) ?? dispatcher.compose(interceptor);
    composed.set(dispatcher, known);
    return known;
  };
  return { ...inner, dispatcher: () => wrap(inner.dispatcher()) };
}
