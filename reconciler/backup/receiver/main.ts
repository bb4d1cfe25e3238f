import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ports } from '../../../constructs/cluster/ports.ts';
import { receive } from './receive.ts';
import { swap } from './data-directories.ts';

/**
 * Entry point of the operator's image in a pod that restores a backup: `receive` waits for the snapshot, `swap` puts
 * the restored data in place. The pod gets no credentials of a store and no keys of a backup.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      volume: { type: 'string', default: '' },
      run: { type: 'string', default: '' },
      pki: { type: 'string', default: '' },
      size: { type: 'string', default: '' },
      sha256: { type: 'string', default: '' },
    },
  });
  const { volume, run } = values;
  const [command] = positionals;
  if (command === 'swap') return swap(volume, run);
  if (command !== 'receive') throw new Error(`unknown command "${command ?? ''}": use receive or swap`);
  const pem = (name: string) => readFile(`${values.pki}/${name}`, 'utf8');
  const receiving = await receive({
    volume,
    run,
    expected: { sizeBytes: Number(values.size), sha256: values.sha256 },
    port: ports.etcdClient,
    tls: { ca: await pem('ca.crt'), cert: await pem('server.crt'), key: await pem('server.key') },
  });
  console.log(receiving.port === undefined ? 'the snapshot exists already' : 'waiting for the snapshot');
  return receiving.received;
}

// The first process of a container ends on a signal only if it handles the signal.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
