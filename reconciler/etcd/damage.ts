/** Why etcd does not start with the data of a member. */
export interface Damage {
  /**
   * `unreadable` regardless of other members. `different` from the data of another member, which does not show whose
   * data is wrong.
   */
  readonly kind: 'unreadable' | 'different';
  /** The problem, as the end of a sentence about the data. */
  readonly what: string;
}

interface Sign extends Damage {
  /** etcd's text, in all versions from 3.5 on. */
  readonly text: RegExp;
  /** What is in the text, too. */
  readonly besides?: string;
}

/**
 * Each as etcd words it, or as a call in the stack trace of a panic, because the kubelet keeps only the end of a long
 * trace. None of them may match the effects of a full or slow disk, missing permissions or a wrong configuration,
 * because the data is then discarded.
 */
const signs: readonly Sign[] = [
  {
    kind: 'different',
    what: 'differs from the data of other members',
    text: /found data inconsistency with peers/,
  },
  {
    kind: 'unreadable',
    what: 'cannot be read, its write-ahead log is damaged',
    text: /walpb: crc mismatch/,
  },
  {
    kind: 'unreadable',
    what: 'is older than what the member has confirmed, its write-ahead log was truncated or replaced by an older one',
    text: /Was the raft log corrupted, truncated, or lost\?|^go\.etcd\.io\/(etcd\/)?raft\/v3\.\(\*raftLog\)\.commitTo\(/m,
  },
  {
    kind: 'unreadable',
    what: 'cannot be read, its database is damaged',
    text: /"error":"(invalid database|checksum error|version mismatch|file size too small)"/,
    besides: '"failed to open database"',
  },
  {
    kind: 'unreadable',
    what: 'cannot be read, its database is damaged',
    text: /^go\.etcd\.io\/bbolt\.(Open|\(\*Tx\)\.page)\(/m,
  },
];

/**
 * The problem that the last lines of a terminated etcd process report about its data; undefined if they report
 * something else. The kubelet keeps 2048 bytes of them.
 */
export function damageIn(lastLines: string | undefined): Damage | undefined {
  if (lastLines === undefined) return undefined;
  const sign = signs.find(({ text, besides = '' }) => text.test(lastLines) && lastLines.includes(besides));
  return sign && { kind: sign.kind, what: sign.what };
}
