import { expect, it } from 'vitest';
import type { Direction, Party } from '../../../support/enforced-policy.ts';
import { Enforcement } from '../../../support/network-policy-evaluator.ts';
import { reachability } from '../../../support/reachability.ts';
import { behindTunnel, expected, type Kind, type Policy, policyKinds, rendered } from './expected-reachability.ts';

/** A matrix for every field and list item takes seconds on a busy machine. */
const manyMatricesMs = 60_000;

it.each(policyKinds)(
  'the matrix detects every part that is left out of a %s, except for defaults',
  (kind) => {
    const { policies, parties } = rendered(kind, behindTunnel);
    const wanted = (['egress', 'ingress'] as const).map((end) => [end, expected(kind, behindTunnel, end)] as const);
    const undetected = policies.flatMap((policy, index) =>
      pathsOf(policy.spec, [])
        .filter((path) => {
          const others = policies.with(index, { ...policy, spec: without(policy.spec, path) });
          return wanted.every(([end, matrix]) => isAsWanted(others, end, parties, matrix));
        })
        .map((path) => `${path.at(-1)}: ${JSON.stringify(at(policy.spec, path))}`),
    );
    expect([...new Set(undetected)].sort()).toEqual(defaults[kind]);
  },
  manyMatricesMs,
);

/** What each kind assumes for a missing field. */
const defaults: Readonly<Record<Kind, string[]>> = {
  NetworkPolicy: ['policyTypes: ["Ingress","Egress"]', 'protocol: "TCP"'],
  CiliumNetworkPolicy: ['fromEntities: ["all"]'],
};

type Path = readonly (string | number)[];

/** Every field and every list item below a path. */
function pathsOf(value: unknown, path: Path): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[...path, key], ...pathsOf(at(value, [key]), [...path, key])]);
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

/** A copy without the part at a path. */
function without(value: object, path: Path): object {
  const copy = structuredClone(value);
  const parent = at(copy, path.slice(0, -1));
  const key = path.at(-1)!;
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete (parent as Record<string | number, unknown>)[key];
  return copy;
}

/** Also false for a policy that Kubernetes would reject. */
function isAsWanted(
  policies: readonly Policy[],
  end: Direction,
  parties: Readonly<Record<string, Party>>,
  wanted: ReadonlyMap<string, string>,
): boolean {
  let pairs = 0;
  try {
    for (const [pair, allowed] of reachability(new Enforcement(policies), end, parties)) {
      if (wanted.get(pair) !== allowed) return false;
      pairs++;
    }
  } catch {
    return false;
  }
  return pairs === wanted.size;
}
