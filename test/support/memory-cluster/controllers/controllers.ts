import type { MemoryApiServer } from '../api-server.ts';
import { releaseClaims } from './claim-protection.ts';
import { collectGarbage } from './garbage-collector.ts';
import { emptyNamespaces } from './namespace-deletion.ts';
import { countQuotas } from './quota-status.ts';

/** What a controller manager does with objects of every kind, until nothing is left to do. It makes no pods. */
export function runControllers(server: MemoryApiServer): void {
  for (let before = -1; before !== server.store.version;) {
    before = server.store.version;
    for (const run of [emptyNamespaces, collectGarbage, releaseClaims, countQuotas]) run(server);
  }
}
