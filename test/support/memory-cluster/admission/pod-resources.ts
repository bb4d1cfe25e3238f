import { quantityValue } from '../../../../constructs/api/quantity.ts';

/** Quantities by the names of resources, such as `cpu`. */
export type Quantities = Readonly<Record<string, string>>;

/** Values of quantities by the names of resources. */
export type Amounts = Readonly<Record<string, number>>;

interface Resources {
  readonly requests?: Quantities;
  readonly limits?: Quantities;
}

/** What admission reads of a container. */
export interface Container {
  readonly name: string;
  readonly resources?: Resources;
  readonly restartPolicy?: string;
}

/** What admission reads of the spec of a pod. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
}

/** All containers of a pod. */
export function containersIn({ containers, initContainers = [] }: PodSpec): readonly Container[] {
  return [...containers, ...initContainers];
}

/** The resources of a container: what is only limited is requested too. */
export function resourcesOf({ resources: { requests = {}, limits = {} } = {} }: Container): Required<Resources> {
  return { requests: { ...limits, ...requests }, limits };
}

/**
 * What a whole pod requests, or may use: its containers and sidecars run together, its other init containers one by one
 * before them.
 */
export function amountsOf({ containers, initContainers = [] }: PodSpec, kind: keyof Resources): Amounts {
  const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';
  const amounts = (container: Container): Amounts =>
    Object.fromEntries(
      Object.entries(resourcesOf(container)[kind]).map(([resource, quantity]) => [resource, quantityValue(quantity)]),
    );
  const together = [...containers, ...initContainers.filter(isSidecar)].map(amounts).reduce(sum, {});
  let sidecars: Amounts = {};
  let highest = together;
  for (const container of initContainers) {
    if (isSidecar(container)) sidecars = sum(sidecars, amounts(container));
    else highest = most(highest, sum(sidecars, amounts(container)));
  }
  return highest;
}

/** The amounts of both. */
export function sum(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, (value, more) => value + more);
}

function most(one: Amounts, other: Amounts): Amounts {
  return combined(one, other, Math.max);
}

function combined(one: Amounts, other: Amounts, combine: (value: number, more: number) => number): Amounts {
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(names.map((name) => [name, combine(one[name] ?? 0, other[name] ?? 0)]));
}

/** An amount as the API server writes it: `1500m`, `2`, `1536Mi`. */
export function quantityOf(amount: number): string {
  if (!Number.isInteger(amount)) return `${Math.round(amount * 1_000)}m`;
  const suffixes = ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki'];
  const power = suffixes.findIndex((_, index) => amount > 0 && amount % 1024 ** (suffixes.length - index) === 0);
  return power < 0 ? String(amount) : `${amount / 1024 ** (suffixes.length - power)}${suffixes[power]}`;
}
