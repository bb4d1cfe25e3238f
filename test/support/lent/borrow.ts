import { operatedNamespace, type OperatedNamespace } from '../operated-namespace.ts';
import type { LentName } from './kinds.ts';
import { Loan, type LoanOptions } from './loan.ts';

/**
 * Borrows a control plane that is Ready for the tests of this file, with an operator of the file's own. It is made for the first file, and
 * returned as it was: a file that leaves anything changed fails, and the next one gets another.
 */
export function borrow(name: LentName, options?: LoanOptions): OperatedNamespace {
  const loan = new Loan(name, options);
  return operatedNamespace(loan.kind.namespace, { loan, lookup: loan.kind.lookup?.() });
}
