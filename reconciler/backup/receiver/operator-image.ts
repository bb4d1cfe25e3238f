import { InvalidConfiguration } from '../../engine/outcome.ts';
import type { Facts } from '../../../constructs/cluster/facts.ts';

/**
 * The operator's own image, for pods that restore backups.
 * @throws InvalidConfiguration if the image is not known, because the operator runs outside of a cluster
 */
export function operatorImageOf({ facts: { operatorImage } }: { readonly facts: Facts }): string {
  if (operatorImage !== undefined) return operatorImage;
  throw new InvalidConfiguration(
    'InvalidConfiguration',
    'the operator does not know its own image, which restore pods need: set the environment variable OPERATOR_IMAGE of the operator',
  );
}
