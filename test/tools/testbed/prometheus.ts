import { join } from 'node:path';
import type { Report } from './progress.ts';
import { unpackedPackage } from './unpacked-package.ts';

/** Programs of Prometheus, of Debian's package, which is older than the newest release. */
export interface Prometheus {
  readonly prometheus: string;
  readonly promtool: string;
}

/** @param cache directory of the testbed's cache, where the unpacked package stays */
export async function findPrometheus(cache: string, report: Report): Promise<Prometheus> {
  const root = await unpackedPackage('prometheus', join(cache, 'packages'), report);
  return { prometheus: join(root, 'usr/bin/prometheus'), promtool: join(root, 'usr/bin/promtool') };
}
