/**
 * The operator's program with a fault that no budget catches. While the file of the environment variable `FAULT` exists, the work on
 * etcd of the Cluster `FAULTY` does what it says. Trials begin and end soon.
 */
import { readFileSync } from 'node:fs';
import { openEtcd } from '../../../reconciler/etcd/access.ts';
import { runProgram } from '../../../reconciler/operator/program.ts';

/** What happens in the place of work. */
const faults = {
  allocates() {
    const kept: object[] = [];
    for (;;) kept.push({ kept: Array.from({ length: 100 }, () => kept.length) });
  },
  loops() {
    for (;;);
  },
  aborts: () => process.abort(),
} as const satisfies Record<string, () => void>;

export type Fault = keyof typeof faults;

const { FAULT: file = '', FAULTY: cluster } = process.env;

function plantedFault(): Fault | undefined {
  try {
    return readFileSync(file, 'utf8') as Fault;
  } catch {
    return undefined;
  }
}

await runProgram({
  reach: {
    etcd: (of, reader) => {
      const fault = of.name === cluster ? plantedFault() : undefined;
      if (fault) faults[fault]();
      return openEtcd(of, reader);
    },
  },
  retryDelays: { firstMs: 2_000, longestMs: 8_000 },
  stillMs: 2_000,
  secondProcessMs: 5_000,
});
