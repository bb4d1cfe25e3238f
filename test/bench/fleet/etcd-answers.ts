import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';

const clusterId = 4711;
const memberId = 1;

/** One field of a protobuf message: a number, a text, or a message. */
type Field = readonly [number: number, value: number | string | Buffer];

/** What a healthy and only member answers to the calls that the operator makes while nothing is wrong. */
const answers: Readonly<Record<string, (peerUrl: string, name: string) => Buffer>> = {
  '/etcdserverpb.Maintenance/Status': () =>
    message([1, header], [2, '3.6.16'], [3, 1 << 20], [4, memberId], [5, 1_000], [6, 2], [7, 1_000], [9, 1 << 20]),
  '/etcdserverpb.KV/Range': () => message([1, header]),
  '/etcdserverpb.Cluster/MemberList': (peerUrl, name) =>
    message([1, header], [2, message([1, memberId], [2, name], [3, peerUrl])]),
};

/** Answers one gRPC call as the member with this name and peer URL. */
export function answerEtcd(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  { name, peerUrl }: { readonly name: string; readonly peerUrl: string },
): void {
  const answer = answers[request.url]?.(peerUrl, name);
  request.resume();
  response.writeHead(200, { 'content-type': 'application/grpc' });
  response.addTrailers({ 'grpc-status': answer ? '0' : '12', 'grpc-message': request.url });
  response.end(answer ? framed(answer) : '');
}

/** The answer of the HTTP API to `/version`. */
export const etcdVersions = JSON.stringify({ etcdserver: '3.6.16', etcdcluster: '3.6.0' });

function framed(content: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

const header = message([1, clusterId], [2, memberId], [3, 900], [4, 2]);

function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'number') return [varint(number << 3), varint(value)];
      const content = Buffer.from(value);
      return [varint((number << 3) | 2), varint(content.length), content];
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 128);
  }
}
