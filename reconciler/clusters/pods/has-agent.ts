import { request } from 'node:http';
import { isIPv6 } from 'node:net';
import { ports } from '../../../constructs/cluster/ports.ts';

/** Whether the konnectivity server at this address of a pod has an agent. @throws if it does not say */
export type HasAgent = (address: string) => Promise<boolean>;

const deadlineMs = 5_000;

/** Asks the health endpoint of the konnectivity server, which is ready while an agent is connected. */
export async function askForAgent(address: string, port: number = ports.konnectivityHealth): Promise<boolean> {
  const host = isIPv6(address) ? `[${address}]` : address;
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const asked = request(
      `http://${host}:${port}/readyz`,
      { agent: false, signal: AbortSignal.timeout(deadlineMs) },
      (answer) => {
        // Nothing of the answer is of interest, and the image may be a user's own.
        answer.destroy();
        resolve(answer.statusCode);
      },
    );
    asked.on('error', reject);
    asked.end();
  });
  if (status === 200) return true;
  if (status === 500) return false;
  throw new Error(`the konnectivity server at ${address} answers with status ${status}`);
}
