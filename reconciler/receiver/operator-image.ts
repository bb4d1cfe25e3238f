import { InvalidConfiguration } from '../engine/outcome.ts';
import type { Scope } from '../phases/scope.ts';

/**
 * The operator's own image, which pods that restore backups run.
 * @throws InvalidConfiguration where nobody knows it: outside of a cluster
 */
export function operatorImageOf({ facts: { operatorImage } }: Pick<Scope, 'facts'>): string {
  if (operatorImage !== undefined) return operatorImage;
  throw new InvalidConfiguration(
    'InvalidConfiguration',
    'the operator does not know its own image, which the pods run that restore: set its variable OPERATOR_IMAGE',
  );
}
