/**
 * Waits for a snapshot as a restore pod does: `node receiver-process.ts < options.json`. Prints its port on the
 * first line of standard output, and ends when the snapshot is on the disk.
 */
import { text } from 'node:stream/consumers';
import { receive, type ReceiveOptions } from '../../../reconciler/backup/receiver/receive.ts';

const { port, received } = await receive(JSON.parse(await text(process.stdin)) as ReceiveOptions);
console.log(port);
await received;
process.exit(0);
