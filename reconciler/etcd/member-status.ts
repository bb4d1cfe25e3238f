import { z } from 'zod';
import type { MemberAlarm, MemberStatus } from './members.ts';

const count = z.coerce.number();

/** etcd3's own type lacks half of the fields. */
const Status = z.object({
  header: z.object({ cluster_id: z.string(), member_id: z.string(), revision: count }),
  version: z.string(),
  leader: z.string(),
  raftTerm: count,
  raftIndex: count,
  raftAppliedIndex: count,
  dbSize: count,
  dbSizeInUse: count,
  errors: z.array(z.string()),
});

/** What a member reports about itself, and the alarms that it knows. */
export interface ReportedStatus {
  readonly status: MemberStatus;
  readonly alarms: readonly MemberAlarm[];
}

/** Reads the answer of a member to a request for its status. @throws when a field is missing */
export function statusIn(answer: unknown): ReportedStatus {
  const { header, leader, dbSize, dbSizeInUse, errors, ...rest } = Status.parse(answer);
  const status: MemberStatus = {
    ...rest,
    memberId: header.member_id,
    clusterId: header.cluster_id,
    leaderId: leader === '0' ? undefined : leader,
    revision: header.revision,
    dbSizeBytes: dbSize,
    dbSizeInUseBytes: dbSizeInUse,
    errors,
  };
  return { status, alarms: errors.flatMap(alarmsIn) };
}

/**
 * Parses alarms. The errors of a status contain them as `memberID:123 alarm:NOSPACE`, without the ID if it is zero, and with
 * one or two spaces since etcd 3.7, whose protobuf library varies them from build to build.
 */
export function alarmsIn(error: string): MemberAlarm[] {
  const [, memberId = '0', name] = /^(?:memberID:(\d+) +)?alarm:(NOSPACE|CORRUPT)/.exec(error) ?? [];
  if (!name) return [];
  return [{ memberId, alarm: name === 'NOSPACE' ? 'Nospace' : 'Corrupt' }];
}
