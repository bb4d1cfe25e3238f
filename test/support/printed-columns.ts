import { hostedControlPlaneCRD } from '../../constructs/api/crd.ts';
import { spanText } from '../../reconciler/cli/format.ts';
import { columns } from '../../reconciler/cli/columns.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';

/** What `kubectl get hcp` prints for an object, by the printer columns of the CRD. @param now milliseconds since the epoch */
export function kubectlGet(object: KubeObject, now: number): string[] {
  const printed = hostedControlPlaneCRD.spec.versions[0].additionalPrinterColumns.filter(
    ({ priority = 0 }) => priority === 0,
  );
  const cells = printed.map(({ type, jsonPath }) => {
    const value = valueAt(object, jsonPath);
    return type === 'date' ? spanText(now - Date.parse(value)) : value;
  });
  return columns([
    ['NAME', ...printed.map(({ name }) => name.toUpperCase())],
    [object.metadata.name, ...cells],
  ]);
}

/** The forms of JSONPath that the CRD uses: fields, and the element of a list that has this type. Nothing is empty text. */
function valueAt(object: object, jsonPath: string): string {
  const steps = [...jsonPath.matchAll(/\.(\w+)(?:\[\?\(@\.type=="(\w+)"\)\])?/g)];
  if (steps.map(([step]) => step).join('') !== jsonPath)
    throw new Error(`this form of JSONPath is not known: ${jsonPath}`);
  let value: unknown = object;
  for (const [, field = '', type] of steps) {
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
    if (type !== undefined)
      value = (value as readonly { type: string }[] | undefined)?.find((one) => one.type === type);
  }
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
