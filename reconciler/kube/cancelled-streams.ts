import { subscribe } from 'node:diagnostics_channel';
import { type ClientHttp2Stream, constants } from 'node:http2';

/**
 * Has every HTTP/2 request that is given up be cancelled at once. undici closes and destroys such a stream in one go
 * without saying why, for which Node waits until its body is sent: that never comes, the server is never told, and once
 * it makes room for more of the body, Node fills all memory with empty frames and does nothing else any more. With a
 * reason it does not wait. To be dropped when undici gives one.
 */
export function cancelGivenUpRequests(): void {
  subscribe('http2.client.stream.created', (message) => {
    const { stream } = message as { readonly stream: ClientHttp2Stream };
    const close = stream.close.bind(stream);
    stream.close = (code = constants.NGHTTP2_CANCEL, callback) => close(code, callback);
  });
}
