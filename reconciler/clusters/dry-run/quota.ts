import type {
  Container,
  PersistentVolumeClaimObject,
  PodObject,
  ResourceQuotaObject,
} from '../../../imports/kubernetes.ts';
import { quantityValue } from '../../../constructs/api/quantity.ts';
import { PersistentVolumeClaim } from '../../../constructs/api/resources.ts';
import type { KubeObject } from '../../kube/object.ts';

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

/** What pods, and volume claims, use of quotas, as Kubernetes counts it. Pods that have ended use nothing. */
export function usageOf(objects: readonly KubeObject[]): Amounts {
  const usage: Record<string, number> = {};
  for (const object of objects) {
    const counted = object.kind === PersistentVolumeClaim.kind ? usageOfClaim(object) : usageOfPod(object);
    for (const [name, amount] of Object.entries(counted)) usage[name] = (usage[name] ?? 0) + amount;
  }
  return usage;
}

function usageOfPod({ spec, status }: PodObject): Amounts {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return {};
  const { containers = [], initContainers = [] } = spec ?? {};
  let sidecars: Amounts = {};
  const starts: Amounts[] = [];
  for (const container of initContainers) {
    // One that ends runs beside the sidecars before it, and before all others.
    if (container.restartPolicy === 'Always') sidecars = sum([sidecars, usageOfContainer(container)]);
    else starts.push(sum([sidecars, usageOfContainer(container)]));
  }
  const runs = sum([sidecars, ...containers.map(usageOfContainer)]);
  const names = new Set([runs, ...starts].flatMap(Object.keys));
  const most = [...names].map((name) => [name, Math.max(...[runs, ...starts].map((one) => one[name] ?? 0))]);
  return { pods: 1, 'count/pods': 1, ...Object.fromEntries(most) };
}

function usageOfContainer({ resources: { requests = {}, limits = {} } = {} }: Container): Amounts {
  const asked = Object.entries({ ...limits, ...requests }).map(([name, text]) => [name, quantityValue(text)] as const);
  const limited = Object.entries(limits).map(([name, text]) => [`limits.${name}`, quantityValue(text)] as const);
  return Object.fromEntries([
    ...asked,
    ...asked.map(([name, value]) => [`requests.${name}`, value] as const),
    ...limited,
  ]);
}

function usageOfClaim({ spec }: PersistentVolumeClaimObject): Amounts {
  const storage = quantityValue(spec?.resources?.requests?.['storage'] ?? '0');
  const { storageClassName: name } = spec ?? {};
  const counts = { persistentvolumeclaims: 1, 'requests.storage': storage };
  const all = { ...counts, 'count/persistentvolumeclaims': 1 };
  if (!name) return all;
  const ofClass = Object.entries(counts).map(([what, value]) => [`${name}.storageclass.storage.k8s.io/${what}`, value]);
  return { ...all, ...Object.fromEntries(ofClass) };
}

function sum(all: readonly Amounts[]): Amounts {
  const total: Record<string, number> = {};
  for (const amounts of all)
    for (const [name, amount] of Object.entries(amounts)) total[name] = (total[name] ?? 0) + amount;
  return total;
}

/**
 * Which quota refuses one of these objects although it accepts each alone, in words like those of the API server; undefined if none does.
 * Quotas for some pods only are left out.
 * @param objects as the API server would store them
 * @param ends what the pods use that end before
 */
export function exceededBy(
  objects: readonly KubeObject[],
  quotas: readonly ResourceQuotaObject[],
  ends: Amounts,
): string | undefined {
  const asked = usageOf(objects);
  for (const { metadata, spec, status: { hard = {}, used = {} } = {} } of quotas) {
    if (spec?.scopes !== undefined || spec?.scopeSelector !== undefined) continue;
    const exceeded = Object.keys(hard).filter((name) => {
      const present = Math.max(0, valueOf(used[name] ?? '0') - (ends[name] ?? 0));
      return (asked[name] ?? 0) > 0 && present + (asked[name] ?? 0) > valueOf(hard[name] ?? '');
    });
    if (exceeded.length === 0) continue;
    const listed = (of: (name: string) => unknown) => exceeded.map((name) => `${name}=${String(of(name))}`).join();
    return `exceeded quota: ${metadata.name}, requested: ${listed((name) => asked[name])} by ${objects.length} objects at the same time, used: ${listed((name) => used[name] ?? 0)}, limited: ${listed((name) => hard[name])}`;
  }
  return undefined;
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
