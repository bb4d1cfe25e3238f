import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { framed, message } from './grpc.ts';

const clusterId = 4711;
/** Etcd sends no more of a snapshot in one message. */
const blobBytes = 32 * 1024;
/** Of the hash, which follows the database in a message of its own, and is not among the bytes that remain. */
const hashBytes = 32;

/** The member that answers. */
export interface AnsweringMember {
  readonly ordinal: number;
  /** All members of its etcd, by ordinal; the first one leads. */
  readonly members: readonly { readonly name: string; readonly peerUrl: string }[];
  /** Its database with the hash of it, as it sends both. */
  readonly snapshot: Buffer;
}

export const header = headerOf(0);

function headerOf(ordinal: number): Buffer {
  return message([1, clusterId], [2, idOf(ordinal)], [3, 900], [4, 2]);
}

function idOf(ordinal: number): number {
  return 1 + ordinal;
}

/** What a healthy member answers to the calls that the operator makes while nothing is wrong, one message or several. */
const answers: Readonly<Record<string, (member: AnsweringMember) => readonly Buffer[]>> = {
  '/etcdserverpb.Maintenance/Status': ({ ordinal, snapshot: { length } }) => [
    message(
      [1, headerOf(ordinal)],
      [2, '3.6.16'],
      [3, length],
      [4, idOf(0)],
      [5, 1_000],
      [6, 2],
      [7, 1_000],
      [9, length],
    ),
  ],
  '/etcdserverpb.KV/Range': ({ ordinal }) => [message([1, headerOf(ordinal)])],
  '/etcdserverpb.Cluster/MemberList': ({ ordinal, members }) => [
    message(
      [1, headerOf(ordinal)],
      ...members.map(({ name, peerUrl }, index) => [2, message([1, idOf(index)], [2, name], [3, peerUrl])] as const),
    ),
  ],
  '/etcdserverpb.Maintenance/Snapshot': ({ ordinal, snapshot }) => {
    const database = snapshot.subarray(0, -hashBytes);
    const blobs = Array.from({ length: Math.ceil(database.length / blobBytes) }, (_, index) =>
      database.subarray(index * blobBytes, (index + 1) * blobBytes),
    );
    let remaining = database.length;
    return [...blobs, snapshot.subarray(-hashBytes)].map((blob) => {
      remaining = Math.max(0, remaining - blob.length);
      return message([1, headerOf(ordinal)], [2, remaining], [3, blob]);
    });
  },
};

/** Answers one gRPC call as this member. */
export function answerEtcd(request: Http2ServerRequest, response: Http2ServerResponse, member: AnsweringMember): void {
  const messages = answers[request.url]?.(member);
  request.resume();
  response.writeHead(200, { 'content-type': 'application/grpc' });
  response.addTrailers({ 'grpc-status': messages ? '0' : '12', 'grpc-message': request.url });
  response.end(Buffer.concat((messages ?? []).map((content) => framed(content))));
}

/** The answer of the HTTP API to `/version`. */
export const etcdVersions = JSON.stringify({ etcdserver: '3.6.16', etcdcluster: '3.6.0' });
