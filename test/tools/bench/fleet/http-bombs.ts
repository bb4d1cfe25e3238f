import type { ServerResponse } from 'node:http';
import { sendEndless, sendSlowly } from './send-endless.ts';

/** What an answer in XML would begin with, and an element that it may have any number of. */
export interface BombText {
  readonly begin: string;
  readonly item: string;
}

/** A piece of a stream that does not end: large enough that to send it costs little. */
const pieceBytes = 64 * 1024;

/** Each kind of answer to a request over HTTP/1.1 that no store and no token service gives. */
export const httpBombs: Readonly<Record<string, (response: ServerResponse, text: BombText) => void>> = {
  blanks: (response, { begin }) => endless(response, begin, ' '),
  elements: (response, { begin }) => endless(response, begin, '<a/>'),
  items: (response, { begin, item }) => endless(response, begin, item),
  depth: (response, { begin }) => endless(response, begin, '<a>'),
  declarations: (response) => endless(response, '<!DOCTYPE a [', '<!ENTITY a "aaaaaaaaaa">'),
  // Within the limit of the operator, so that the parser gets it.
  large: (response, { begin, item }) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(begin + item.repeat(Math.floor((1.9 * 1024 * 1024) / item.length)));
  },
  // One byte in each chunk: what reads them has as much to do as with many answers.
  crumbs: ({ socket }, { begin }) => {
    if (!socket) return;
    socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${begin.length.toString(16)}\r\n${begin}\r\n`);
    sendEndless(socket, '1\r\n \r\n'.repeat(pieceBytes / 6));
  },
  slowly: (response, { begin }) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.write(begin);
    sendSlowly(response, ' ');
  },
  silence: () => {},
  redirect: (response) => {
    const location = `https://${response.req.headers.host ?? ''}${response.req.url ?? ''}`;
    response.writeHead(307, { location }).end();
  },
  headers: ({ socket }) => {
    if (!socket) return;
    socket.write('HTTP/1.1 200 OK\r\n');
    sendEndless(socket, `x: ${'x'.repeat(1_000)}\r\n`.repeat(60));
  },
  hints: ({ socket }) => {
    if (socket) sendEndless(socket, 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(1_500));
  },
  // A socket of TLS cannot be reset from here: it is closed without an answer.
  reset: ({ socket }) => socket?.destroy(),
  overload: (response, { begin }) => {
    response.writeHead(503, { 'content-type': 'application/xml', 'retry-after': '0' });
    response.end(`${begin}${'x'.repeat(100_000)}`);
  },
};

function endless(response: ServerResponse, begin: string, part: string): void {
  response.writeHead(200, { 'content-type': 'application/xml' });
  response.write(begin);
  sendEndless(response, part.repeat(Math.ceil(pieceBytes / part.length)));
}
