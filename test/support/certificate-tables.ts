import { planRows, policyRows } from '../../reconciler/cli/certificate-plan.ts';
import { markdownTable, withBlock } from './readme-block.ts';

/** The text with the tables of `hcp certificates --plan` between their markers. */
export function withCertificateTables(text: string): string {
  const [plan, policy] = [planRows(), policyRows()].map(tableOf);
  return withBlock(text, 'certificates', `${plan}\n${policy}`);
}

function tableOf([heading = [], ...rows]: readonly (readonly string[])[]): string {
  return markdownTable([
    heading.map((word) => word.toLowerCase()),
    ...rows.map(([name = '', ...cells]) => [`\`${name}\``, ...cells]),
  ]);
}
