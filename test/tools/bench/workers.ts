import { measureAccess } from './access.ts';
import type { BenchTestbed } from './bench-testbed.ts';
import { type Figure, median } from './figure.ts';
import { measureJoins } from './joining.ts';

/** The time until a worker is a Ready node. */
export async function measureWorkers(testbed: BenchTestbed): Promise<Figure[]> {
  const times = await measureJoins(testbed);
  const figure = (name: string, key: 'join' | 'powerOn'): Figure => ({
    name: `worker: ${name} to node Ready`,
    value: median(times.map((time) => time[key])) / 1000,
    unit: 's',
    goal: { atMost: 5 },
  });
  return [figure('kubeadm join', 'join'), figure('power on', 'powerOn')];
}

/** The cost of in-cluster access, compared with connections to the endpoint from the same node. */
export async function measureInClusterAccess(testbed: BenchTestbed): Promise<Figure[]> {
  const times = await measureAccess(testbed);
  return times.flatMap(({ access, direct, byAccess }): Figure[] => [
    {
      name: `pod to API server by ${access}: request / direct`,
      value: median(byAccess.open) / median(direct.open),
      unit: 'ratio',
      ...(access === 'Proxy' ? { goal: { atMost: 1.3 } } : {}),
    },
    {
      name: `pod to API server by ${access}: new connection / direct`,
      value: median(byAccess.fresh) / median(direct.fresh),
      unit: 'ratio',
    },
    {
      name: `pod to API server by ${access}: bytes of a request / direct`,
      value: byAccess.bytes / direct.bytes,
      unit: 'ratio',
    },
  ]);
}
