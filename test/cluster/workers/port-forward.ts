import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import type { HostedApi } from '../../tools/testbed/hosted-api.ts';
import { binDirectory, type Instance } from '../../tools/testbed/instance.ts';

/** A port of this host that is forwarded to a port of a pod. */
export interface ForwardedPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts `kubectl port-forward`; resolves when it listens. Throws with the output of kubectl if it does not. */
export async function forwardPort(
  instance: Instance,
  { kubeconfig }: Pick<HostedApi, 'kubeconfig'>,
  pod: string,
  target: number,
): Promise<ForwardedPort> {
  const args = ['--kubeconfig', kubeconfig, 'port-forward', '--address=127.0.0.1', `pod/${pod}`, `:${target}`];
  const child = spawn(join(binDirectory(instance), 'kubectl'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const end = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const port = await until('kubectl port-forward to listen', () => {
    if (child.exitCode !== null) throw new Error(`kubectl port-forward ended: ${output}`);
    return /Forwarding from 127\.0\.0\.1:(\d+)/.exec(output)?.[1];
  });
  return {
    port: Number(port),
    async close() {
      child.kill();
      await end;
    },
  };
}
