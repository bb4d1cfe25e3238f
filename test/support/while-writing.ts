import type { KubeClient } from '../../reconciler/kube/client.ts';
import { NumberedConfigMaps } from './numbered-config-maps.ts';

/** Does something while a client writes. @returns the seconds it took, the longest stall of a write, and lost writes */
export async function whileWriting(hosted: KubeClient, act: () => Promise<void>) {
  const writer = new NumberedConfigMaps({ client: hosted });
  await writer.untilMore(20);
  const start = performance.now();
  await act();
  await writer.untilMore(20);
  const seconds = (performance.now() - start) / 1000;
  await writer.stop();
  return { seconds, stallMs: writer.longestStallMs, lost: await writer.lost() };
}
