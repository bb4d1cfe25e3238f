/** Why etcd does not start on the data of a member. */
export interface Damage {
  /**
   * `Unreadable` by itself, whatever the others have. `Different` from what some other member has, which does not say
   * whose is wrong.
   */
  readonly kind: 'Unreadable' | 'Different';
  /** What is wrong with it, as the end of a sentence on its data. */
  readonly what: string;
}

interface Sign extends Damage {
  /** What etcd says, in all its versions from 3.5 on. */
  readonly text: RegExp;
}

/**
 * Each as etcd words it, or as a call in the trace of a panic, because a long trace is all that the kubelet keeps. Nothing
 * that also a full or slow disk, missing rights or a wrong configuration leads to: data is discarded for these.
 */
const signs: readonly Sign[] = [
  {
    kind: 'Different',
    what: 'differs from that of the others',
    text: /found data inconsistency with peers/,
  },
  {
    kind: 'Unreadable',
    what: 'cannot be read, its write-ahead log is damaged',
    text: /walpb: crc mismatch/,
  },
  {
    kind: 'Unreadable',
    what: 'is older than what it has confirmed, its write-ahead log was cut or put back',
    text: /Was the raft log corrupted, truncated, or lost\?|^go\.etcd\.io\/(etcd\/)?raft\/v3\.\(\*raftLog\)\.commitTo\(/m,
  },
  {
    kind: 'Unreadable',
    what: 'cannot be read, its database is damaged',
    text: /"failed to open database".*"error":"(invalid database|checksum error|version mismatch|file size too small)"|^go\.etcd\.io\/bbolt\.(Open|\(\*Tx\)\.page)\(/m,
  },
];

/**
 * What the last lines of a process of etcd that has ended say about its data; undefined when they are about something
 * else. The kubelet keeps 2048 bytes of them.
 */
export function damageIn(lastLines: string | undefined): Damage | undefined {
  const sign = lastLines === undefined ? undefined : signs.find(({ text }) => text.test(lastLines));
  return sign && { kind: sign.kind, what: sign.what };
}
