import { errorFromStatus, type Status } from './errors.ts';
import type { KubeObject } from './object.ts';
import { actionOf, answerTooLarge, type KubeRequest, type Stream } from './request.ts';
import type { Transport } from './transport.ts';

/** An event of a watch. An ERROR event is thrown as KubeError instead. */
export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Events of one watch request. Returns when the server ends it, and throws otherwise. */
export async function* readWatch<T extends KubeObject>(
  transport: Transport,
  call: KubeRequest,
): AsyncGenerator<WatchEvent<T>, void> {
  const stream = await transport.stream(call);
  const lines = readLines(call, stream);
  try {
    for (;;) {
      const next = await lines.next().catch((cause: unknown) => {
        throw stream.failed(cause);
      });
      if (next.done) return;
      yield parseEvent<T>(call, next.value);
    }
  } finally {
    await lines.return(undefined);
    stream.release();
  }
}

/** One line of the response. */
type Line<T> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: T }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }
  | { type: 'ERROR'; object: Status };

function parseEvent<T extends KubeObject>(call: KubeRequest, text: string): WatchEvent<T> {
  const line: Line<T> = JSON.parse(text);
  if (line.type === 'ERROR') throw errorFromStatus(actionOf(call), line.object.code ?? 500, line.object);
  if (line.type !== 'BOOKMARK') return line;
  return { type: 'BOOKMARK', resourceVersion: line.object.metadata.resourceVersion };
}

async function* readLines(call: KubeRequest, { body, maxBytes }: Stream): AsyncGenerator<string, void> {
  // Objects may have a megabyte and arrive in chunks of 16 KiB. Joining the chunks once per line avoids repeated
  // copies.
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString('utf8');
      pending = [];
      bytes = 0;
      start = end + 1;
      if (line.length > 0) yield line;
    }
    bytes += chunk.length - start;
    if (bytes > maxBytes) throw answerTooLarge(call, maxBytes);
    if (start < chunk.length) pending.push(chunk.subarray(start));
  }
}
