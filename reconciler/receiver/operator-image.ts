import { InvalidConfiguration } from '../engine/outcome.ts';
import type { Facts } from '../../constructs/cluster/facts.ts';

/**
 * The operator's own image, which pods that restore backups run.
 * @throws InvalidConfiguration where nobody knows it: outside of a cluster
 */
export function operatorImageOf({ facts: { operatorImage } }: { readonly facts: Facts }): string {
  if (operatorImage !== undefined) return operatorImage;
  throw new InvalidConfiguration(
    'InvalidConfiguration',
    'the operator does not know its own image, which the pods run that restore: set its variable OPERATOR_IMAGE',
  );
}
