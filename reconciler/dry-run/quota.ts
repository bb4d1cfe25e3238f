import { quantityValue } from '../../constructs/api/quantity.ts';
import type { KubeObject } from '../kube/object.ts';

interface Resources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

interface Container {
  readonly resources?: Resources;
  readonly restartPolicy?: string;
}

/** A pod, with the fields that a quota counts. */
export interface CountedPod extends KubeObject {
  readonly spec?: { readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[] };
}

/** Amounts by the names that quotas give them, such as `limits.cpu`. */
export type Amounts = Readonly<Record<string, number>>;

/**
 * Whether a quota that refuses a pod would admit it once these pods have ended. A quota counts pods until they are gone, and
 * the ones that a step creates follow those that it stops.
 * @param words of the API server
 * @param ends what the pods use that end before
 */
export function fitsAfter(words: string, ends: Amounts): boolean {
  const [, said] = words.split('exceeded quota: ');
  const [, requested] = said?.split(', requested: ') ?? [];
  const [asked, counted] = requested?.split(', used: ') ?? [];
  const [used, limited] = counted?.split(', limited: ') ?? [];
  if (asked === undefined || used === undefined || limited === undefined) return false;
  const [present, hard] = [amountsIn(used), amountsIn(limited)];
  return Object.entries(amountsIn(asked)).every(
    ([name, amount]) => amount + (present[name] ?? Infinity) - (ends[name] ?? 0) <= (hard[name] ?? -Infinity),
  );
}

/** What pods use at least. Init containers that end do not run beside the others, and are left out. */
export function usageOf(pods: readonly CountedPod[]): Amounts {
  const usage: Record<string, number> = {};
  const add = (name: string, amount: number) => void (usage[name] = (usage[name] ?? 0) + amount);
  for (const { spec } of pods) {
    for (const name of ['pods', 'count/pods']) add(name, 1);
    const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    for (const { resources: { requests = {}, limits = {} } = {} } of [...(spec?.containers ?? []), ...sidecars]) {
      for (const [name, quantity] of Object.entries({ ...limits, ...requests })) {
        for (const counted of [name, `requests.${name}`]) add(counted, quantityValue(quantity));
      }
      for (const [name, quantity] of Object.entries(limits)) add(`limits.${name}`, quantityValue(quantity));
    }
  }
  return usage;
}

/** `limits.cpu=500m,pods=1` */
function amountsIn(text: string): Amounts {
  const entries = text.split(',').map((entry) => entry.split('='));
  return Object.fromEntries(entries.map(([name = '', quantity = '']) => [name.trim(), valueOf(quantity.trim())]));
}

/** Not a number for what is no quantity; no comparison with it holds. */
function valueOf(quantity: string): number {
  try {
    return quantityValue(quantity);
  } catch {
    return NaN;
  }
}
