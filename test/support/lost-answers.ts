import type { Dispatcher } from 'undici';
import type { Connection } from '../../reconciler/kube/config.ts';

/** A connection whose requests reach the server and are handled, and whose answers never arrive. */
export function losingAnswers(inner: Connection): Connection {
  const lose: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onResponseStart: (controller) => controller.abort(new Error('the answer is lost')),
      onResponseData: () => {},
      onResponseEnd: () => {},
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
  const composed = new WeakMap<Dispatcher, Dispatcher>();
  const wrap = (dispatcher: Dispatcher): Dispatcher => {
    const known = composed.get(dispatcher) ?? dispatcher.compose(lose);
    composed.set(dispatcher, known);
    return known;
  };
  return { ...inner, dispatcher: () => wrap(inner.dispatcher()) };
}
