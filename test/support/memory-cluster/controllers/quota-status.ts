import { isDeepStrictEqual } from 'node:util';
import { ResourceQuota } from '../../../../constructs/api/resources.ts';
import { type QuotaObject, usedOf } from '../admission/resource-quotas.ts';
import type { MemoryApiServer } from '../api-server.ts';

/** Writes what each quota uses. */
export function countQuotas({ store }: MemoryApiServer): void {
  for (const quota of store.list(ResourceQuota) as (QuotaObject & { status?: object })[]) {
    const status = { hard: quota.spec.hard, used: usedOf(store, quota) };
    if (!isDeepStrictEqual(quota.status, status)) store.put({ ...quota, status } as QuotaObject);
  }
}
