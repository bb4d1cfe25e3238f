/** Uploads a backup that never ends, until it is killed: `node uploading-process.ts < settings.json`. */
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ClusterBackups } from '../../../reconciler/backup/cluster-backups.ts';
import { ObjectStore } from '../../../reconciler/backup/store/object-store.ts';
import type { StoreSettings } from '../../../reconciler/backup/store/store-settings.ts';
import { snapshotFacts } from '../../support/snapshot-facts.ts';

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    yield Buffer.alloc(1 << 20);
    await setTimeout(10);
  }
}

const store = new ObjectStore(JSON.parse(await text(process.stdin)) as StoreSettings);
await new ClusterBackups(store, { namespace: 'team', cluster: 'killed' }).write({
  name: { time: Date.now(), revision: 1 },
  facts: snapshotFacts,
  snapshot: endless(),
});
