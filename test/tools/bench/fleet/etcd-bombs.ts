import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { ServerResponse } from 'node:http';
import { header } from './etcd-answers.ts';
import { framed, message } from './grpc.ts';
import { httpBombs } from './http-bombs.ts';
import { sendEndless, sendSlowly } from './send-endless.ts';
import type { HostileCluster } from './world.ts';

/** Bytes of the longest message that gRPC reads by default, and that the operator reads. */
const longest = { byDefault: 4 << 20, read: 64 << 10 };

/** An answer to a call: what is sent, or how the stream ends. */
type Answer = (response: Http2ServerResponse, url: string) => void;

const rangeCall = '/etcdserverpb.KV/Range';
const snapshotCall = '/etcdserverpb.Maintenance/Snapshot';

const endlessSnapshot = framed(message([1, header], [3, Buffer.alloc(longest.read / 2)]));
/** Each a prefix of five bytes. */
const emptyMessages = Buffer.alloc(5 * 13_000);
/** Empty messages in field 2: the members of a list, and the keys of a range. */
const objects = (bytes: number): Buffer => framed(Buffer.alloc(bytes - (bytes % 2), message([2, ''])));
const [manyObjects, mostObjects] = [objects(longest.read), objects(longest.byDefault - 1)];
const members = framed(
  Buffer.concat(
    Array.from({ length: 2_000 }, (_, at) => message([2, message([1, at + 1], [2, `m${at}`], [3, `https://${at}`])])),
  ),
);
const wrong = framed(Buffer.alloc(longest.read, 0xff));
const manyTrailers = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x-${at}`, 'x'.repeat(40)]));

/** Each kind of answer that is none of etcd. */
export const etcdBombs: Readonly<Record<string, Answer>> = {
  promise: (response) => void response.write(framed(Buffer.alloc(1024), 0xffff_ffff)),
  manyObjects: (response) => finish(response, manyObjects),
  mostObjects: (response) => finish(response, mostObjects),
  members: (response) => finish(response, members),
  wrong: (response) => finish(response, wrong),
  slowly: (response) => {
    response.write(framed(Buffer.alloc(0), longest.read));
    sendSlowly(response, 'x');
  },
  silence: () => {},
  untrailed: (response) => void response.end(framed(message([1, header]))),
  reset: (response) => response.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM),
  trailers: (response) => {
    response.addTrailers({ 'grpc-status': '13', 'grpc-message': 'x'.repeat(8_000), ...manyTrailers });
    response.end();
  },
  messages: (response) => sendEndless(response, emptyMessages),
  endless: (response, url) => sendEndless(response, url === snapshotCall ? endlessSnapshot : emptyMessages),
};

const kinds = Object.values(etcdBombs);
const plainKinds = Object.values(httpBombs);

/** Members of etcd that answer calls with the next kind of bomb. */
export class HostileEtcds {
  #answers = 0;

  /** Answers that were bombs. */
  get answers(): number {
    return this.#answers;
  }

  /** @param worksUntil how far the member seems to work @returns whether it has answered */
  answer(
    request: Http2ServerRequest,
    response: Http2ServerResponse,
    worksUntil: HostileCluster['worksUntil'],
  ): boolean {
    const { url } = request;
    if (worksUntil !== 'never' && url !== (worksUntil === 'keys' ? rangeCall : snapshotCall)) return false;
    const at = this.#answers++;
    request.resume();
    response.on('error', () => {});
    response.writeHead(200, { 'content-type': 'application/grpc' });
    // One key after the other, each of another resource: to count them does not end.
    if (worksUntil === 'keys') finish(response, keyAt(at));
    else kinds[at % kinds.length]?.(response, url);
    return true;
  }

  /** Answers a request to the HTTP API. */
  answerPlain(response: ServerResponse): void {
    plainKinds[this.#answers++ % plainKinds.length]?.(response, { begin: '{"etcdcluster":"', item: 'x' });
  }
}

function keyAt(at: number): Buffer {
  const key = `/registry/r${String(at).padStart(9, '0')}/x`;
  return framed(message([1, header], [2, message([1, key])], [4, 1]));
}

function finish(response: Http2ServerResponse, content: Buffer): void {
  response.addTrailers({ 'grpc-status': '0' });
  response.end(content);
}
