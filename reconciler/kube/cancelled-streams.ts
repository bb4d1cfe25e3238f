import { subscribe } from 'node:diagnostics_channel';
import { type ClientHttp2Stream, constants } from 'node:http2';

/**
 * Cancels every aborted HTTP/2 request immediately. undici closes and destroys the stream of such a request without an
 * error code. Node then waits until the body is sent, which never happens, and the server is never notified. Once the
 * server grants more window for the body, Node fills all memory with empty frames and does nothing else. With an error
 * code it does not wait. Remove this when undici sets a code.
 */
export function cancelGivenUpRequests(): void {
  subscribe('http2.client.stream.created', (message) => {
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const close = stream.close.bind(stream);
    stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
  });
}
