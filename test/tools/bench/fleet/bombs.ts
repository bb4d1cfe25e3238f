import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

/** How an answer begins, what follows again and again, and how it ends; `slow` ones never do. */
interface Bomb {
  readonly begin: string;
  readonly part: (index: number) => string;
  readonly end: string;
  readonly bytes: number;
  readonly slow?: boolean;
}

const mebibyte = 1024 * 1024;

/** An answer that is as large as the operator reads of any, or takes as much memory. */
export const bombKinds = [
  'objects',
  'arrays',
  'labels',
  'numbers',
  'blanks',
  'text',
  'depth',
  'slow',
  'redirect',
  'events',
] as const;
type AnyKind = (typeof bombKinds)[number];
type Kind = Exclude<AnyKind, 'redirect'>;

function bombOf(kind: Exclude<Kind, 'events'>, begin: string, open: string): Bomb {
  const list = { begin: `${begin},"x":[0`, end: `]${open}` };
  switch (kind) {
    case 'objects':
      return { ...list, part: () => ',{}', bytes: 0.27 * mebibyte };
    case 'arrays':
      return { ...list, part: () => ',[]', bytes: 15.9 * mebibyte };
    case 'numbers':
      return { ...list, part: (at) => `,${at}`, bytes: 1.2 * mebibyte };
    case 'labels':
      return {
        begin: `${begin},"labels":{"a":""`,
        part: (at) => `,"z${at}":""`,
        end: `}${open}`,
        bytes: 1.05 * mebibyte,
      };
    case 'blanks':
      return { begin, part: () => ' ', end: open, bytes: 15.9 * mebibyte };
    case 'text':
      return { begin: `${begin},"x":"`, part: () => 'ü', end: `"${open}`, bytes: 7 * mebibyte };
    case 'depth':
      return { begin: `${begin},"x":`, part: () => '[', end: open, bytes: 15.9 * mebibyte };
    case 'slow':
      return { ...list, part: () => ',1', bytes: 15.9 * mebibyte, slow: true };
  }
}

/** Ordinary changes, of many objects and without end. */
const endlessEvents: Bomb = {
  begin: '',
  part: (at) =>
    `{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"Any","metadata":{"name":"n${at % 500}","uid":"${at % 500}","resourceVersion":"${at + 2}"}}}\n`,
  end: '',
  bytes: Infinity,
};

export interface HostileApiOptions {
  /** @default all */
  readonly kinds?: readonly AnyKind[];
  /** Of each bomb. @default as many as take most memory */
  readonly bytes?: number;
}

/** Answers a request of the operator as a hostile API server does, each with the next kind of bomb. */
export class HostileApi {
  readonly #kinds: readonly AnyKind[];
  readonly #bytes: number | undefined;
  #answers = 0;

  constructor({ kinds = bombKinds, bytes }: HostileApiOptions = {}) {
    this.#kinds = kinds;
    this.#bytes = bytes;
  }

  get answers(): number {
    return this.#answers;
  }

  answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
    const kind = this.#kinds[this.#answers++ % this.#kinds.length] ?? 'objects';
    request.resume();
    request.on('error', () => {});
    response.on('error', () => {});
    if (kind === 'redirect') {
      response.writeHead(307, { location: request.url });
      return void response.end();
    }
    const url = new URL(request.url, 'https://hosted');
    response.writeHead(200, { 'content-type': 'application/json' });
    const bomb = bombFor(kind, request.method === 'PATCH', url);
    send(response, { ...bomb, bytes: this.#bytes ?? bomb.bytes });
  }
}

/** The bomb in what the request asks for: an object, a list, or an event. */
function bombFor(kind: Kind, isApply: boolean, url: URL): Bomb {
  const { pathname, searchParams } = url;
  const name = pathname.split('/').at(-1) ?? '';
  const metadata = `"metadata":{"name":"${name}","uid":"1","resourceVersion":"1"`;
  const object = `{"apiVersion":"v1","kind":"Any",${metadata}`;
  if (kind === 'events') return searchParams.get('watch') ? endlessEvents : bombFor('objects', isApply, url);
  if (searchParams.get('watch')) return bombOf(kind, `{"type":"ADDED","object":${object}`, '}}}\n');
  if (isApply) return bombOf(kind, object, '}}');
  return bombOf(kind, `{"kind":"List","metadata":{"resourceVersion":"1"},"items":[{${metadata}`, '}}]}');
}

/** As fast as the operator reads, or a little each second. */
function send(response: Http2ServerResponse, { begin, part, end, bytes, slow = false }: Bomb): void {
  let [sent, index] = [begin.length, 0];
  response.write(begin);
  const more = (): void => {
    for (let isRoom = true; isRoom && !response.destroyed && response.writable;) {
      if (sent >= bytes) return void response.end(end);
      const text = Array.from({ length: 4_000 }, () => part(index++)).join('');
      sent += Buffer.byteLength(text);
      isRoom = response.write(text);
      if (slow) return void setTimeout(more, 1_000).unref();
    }
  };
  response.on('drain', () => {
    if (!slow) more();
  });
  more();
}
