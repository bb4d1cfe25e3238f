import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { FanOutConfig } from '../../../constructs/control-plane/api-server/audit/fan-out-config.ts';
import { FanOut } from './fan-out.ts';

/** Entry point of the audit fan-out, the sidecar of an API server whose audit records go to several receivers. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      config: { type: 'string', default: '' },
      'token-file': { type: 'string', default: '' },
      port: { type: 'string', default: '' },
      'health-port': { type: 'string', default: '' },
      // for users
      'queue-bytes': { type: 'string', default: String(32 * 1024 ** 2) },
      'timeout-seconds': { type: 'string', default: '10' },
    },
  });
  const config = JSON.parse(await readFile(values.config, 'utf8')) as FanOutConfig;
  const fanOut = new FanOut({
    config,
    readToken: async () => (await readFile(values['token-file'], 'utf8')).trim(),
    timeoutMs: positive('timeout-seconds', values['timeout-seconds']) * 1000,
    queueBytes: positive('queue-bytes', values['queue-bytes']),
    backOffMs: (failures) => Math.min(30_000, 1000 * 2 ** Math.min(5, failures - 1)) * (0.8 + 0.4 * Math.random()),
    log: (line) => console.log(`${new Date().toISOString()} ${line}`),
  });
  fanOut.server.listen(positive('port', values.port), '127.0.0.1');
  fanOut.healthServer.listen(positive('health-port', values['health-port']));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => void fanOut.end(wait(stopMs)).then(() => process.exit(0)));
  }
}

/** A sidecar stops after the API server, in what is left of the pod's thirty seconds. */
const stopMs = 20_000;

function positive(flag: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${flag} is "${text}": use a number above zero`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
