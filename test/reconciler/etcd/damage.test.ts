import { describe, expect, it } from 'vitest';
import { damageIn } from '../../../reconciler/etcd/damage.ts';

const fatal = (error: string) =>
  `{"level":"fatal","caller":"etcdmain/etcd.go:183","msg":"discovery failed","error":"${error}","stacktrace":"main.main"}`;
const opening = (error: string) =>
  `{"level":"panic","msg":"failed to open database","path":"/var/lib/etcd/data/member/snap/db","error":"${error}"}`;

// test/full/cluster/etcd/unreadable.test.ts covers what real members print when their data is damaged.
describe('the last log lines of etcd', () => {
  it.each([
    ['differs', 'different', fatal('ec1c560b83d6320 found data inconsistency with peers')],
    ['log', 'unreadable', fatal("walpb: crc mismatch: expected: 2fd89caf computed: a8eabfd: in file '0.wal'")],
    [
      'older',
      'unreadable',
      'panic: tocommit(71) is out of range [lastIndex(0)]. Was the raft log corrupted, truncated, or lost?',
    ],
    ['older', 'unreadable', 'goroutine 129 [running]:\ngo.etcd.io/raft/v3.(*raftLog).commitTo(0x21b18dee8b40, 0x9)'],
    ['older', 'unreadable', 'goroutine 129 [running]:\ngo.etcd.io/etcd/raft/v3.(*raftLog).commitTo(0x21b18, 0x9)'],
    ['database', 'unreadable', opening('invalid database')],
    ['database', 'unreadable', '\tsync/once.go:69\ngo.etcd.io/bbolt.Open({0x2dd9d3117a00, 0x1b}, 0x180)\n\tdb.go:299'],
    [
      'database',
      'unreadable',
      'goroutine 123 [running]:\ngo.etcd.io/bbolt.(*Tx).page(0x2a32fed64780?, 0x2a32fecc6600?)',
    ],
  ])('report damaged data: %s', (word, kind, text) => {
    expect(damageIn(text)).toEqual({ kind, what: expect.stringContaining(word) });
  });

  it.each([
    ['the disk is full', opening('no space left on device')],
    ['permission is denied', opening('permission denied')],
    ['the disk fails', fatal('read /var/lib/etcd/data/member/wal/0.wal: input/output error')],
    ['the member was removed', fatal('the member has been permanently removed from the cluster')],
    ['there are none', ''],
    ['they are unknown', undefined],
  ])('report no damage if %s', (_, text) => {
    expect(damageIn(text)).toBeUndefined();
  });
});
