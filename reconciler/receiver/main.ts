import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ports } from '../../constructs/cluster/ports.ts';
import { receive } from './receive.ts';
import { swap } from './swap.ts';

/**
 * What the operator's image does inside of a pod that restores a backup: `receive` waits for the snapshot, `swap` puts the
 * restored data in place. No credential of a store and no key of a backup comes here.
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
  const [act] = positionals;
  if (act === 'swap') return swap(volume, run);
  if (act !== 'receive') throw new Error(`"${act ?? ''}" is nothing that can be done: say receive or swap`);
  const pem = (name: string) => readFile(`${values.pki}/${name}`, 'utf8');
  const receiving = await receive({
    volume,
    run,
    expected: { sizeBytes: Number(values.size), sha256: values.sha256 },
    port: ports.etcdClient,
    tls: { ca: await pem('ca.crt'), cert: await pem('server.crt'), key: await pem('server.key') },
  });
  console.log(receiving.port === undefined ? 'the snapshot is there' : 'waiting for the snapshot');
  return receiving.received;
}

// The first process of a container ends on a signal only if it says so.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
