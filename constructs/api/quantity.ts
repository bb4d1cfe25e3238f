import { z } from 'zod';
import { withRules } from './validation-rule.ts';

const pattern = /^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;

/** A Kubernetes quantity such as `8Gi`. Numbers are accepted too and converted to decimal text. */
export const Quantity = withRules(
  z
    .union([z.int(), z.string().max(64)])
    .transform(String)
    .meta({ 'x-kubernetes-int-or-string': true, maxLength: 64 }),
  [
    {
      rule: 'isQuantity(string(self))',
      message: 'must be a quantity such as 8Gi',
      holds: (text) => pattern.test(text),
    },
  ],
);

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** The number that a quantity stands for: bytes of `8Gi`, cores of `500m`. Throws for any other text. */
export function quantityValue(quantity: string): number {
  const [, number, suffix] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9.]+)?)([a-zA-Z]*)$/.exec(quantity) ?? [];
  if (number === undefined || suffix === undefined || !pattern.test(quantity)) {
    throw new Error(`"${quantity}" is not a quantity: write a number with a unit, such as 500m or 8Gi`);
  }
  const power = binary.indexOf(suffix);
  return power >= 0 ? Number(number) * 1024 ** power : Number(`${number}e${decimal[suffix]}`);
}

/** Whether one quantity is larger than another. */
export function isMore(one: string, other: string): boolean {
  return quantityValue(one) > quantityValue(other);
}
