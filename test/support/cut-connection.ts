import type { Dispatcher } from 'undici';
import type { Connection } from '../../reconciler/kube/config.ts';

/** A connection that dies at an exact moment, as if its process had been killed there. */
export interface CutConnection {
  readonly connection: Connection;
  /** Whether it is dead; nothing it is asked reaches the server any more. */
  readonly isDead: () => boolean;
}

/**
 * Lets so many writes through and no request at all after the last of them. Events do not count: they are told beside
 * the work, and whether one more was told before the end says nothing.
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
