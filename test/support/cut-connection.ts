import type { Dispatcher } from 'undici';
import type { Connection } from '../../reconciler/kube/config.ts';

/** A connection that fails from an exact request on, as if its process had been killed there. */
export interface CutConnection {
  readonly connection: Connection;
  /** Whether it is cut; from then on no request reaches the server. */
  readonly isDead: () => boolean;
}

/**
 * Allows `writes` writes and no request after the last of them. Event requests are not counted: the recorder sends them
 * concurrently, so the number sent before the cut varies.
 */
export function cutAfter(writes: number, inner: Connection): CutConnection {
  let left = writes;
  const cut: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
    const isWrite = options.method !== 'GET' && !options.path.includes('/events');
    if (left <= 0) throw new Error('killed');
    if (isWrite) left -= 1;
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
    isDead: () => left <= 0,
  };
}
