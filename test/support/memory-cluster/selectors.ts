import type { Selection } from '../../../reconciler/kube/client-options.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { isFields } from './leaves.ts';

type Labels = Readonly<Record<string, string>>;

/** Whether an object matches the selectors of a request. */
export function isSelected(
  object: KubeObject,
  { namespace, labelSelector, fieldSelector }: Pick<Selection, 'namespace' | 'labelSelector' | 'fieldSelector'>,
): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  const labels = object.metadata.labels ?? {};
  return (
    requirementsIn(labelSelector).every((requirement) => meets(labels, requirement)) &&
    requirementsIn(fieldSelector).every((requirement) => {
      const [path = '', value = ''] = requirement.split(/==?/);
      return fieldAt(object, path) === value;
    })
  );
}

/** The only name that a field selector admits. */
export function selectedName({ fieldSelector }: Pick<Selection, 'fieldSelector'>): string | undefined {
  return requirementsIn(fieldSelector)
    .map((requirement) => /^metadata\.name==?(.+)$/.exec(requirement)?.[1])
    .find((name) => name !== undefined);
}

/** Splits at commas that are not between parentheses. */
function requirementsIn(selector: string | undefined): string[] {
  return (selector ?? '')
    .split(/,(?![^(]*\))/)
    .map((requirement) => requirement.trim())
    .filter((requirement) => requirement !== '');
}

function meets(labels: Labels, requirement: string): boolean {
  const among = /^(\S+) (in|notin) \((.*)\)$/.exec(requirement);
  if (among) {
    const [, label = '', operator, values = ''] = among;
    const value = labels[label];
    const isOne = value !== undefined && values.split(',').some((one) => one.trim() === value);
    return isOne === (operator === 'in');
  }
  if (requirement.startsWith('!')) return labels[requirement.slice(1)] === undefined;
  if (requirement.includes('!=')) {
    const [label = '', value] = requirement.split('!=');
    return labels[label] !== value;
  }
  if (!requirement.includes('=')) return labels[requirement] !== undefined;
  const [label = '', value] = requirement.split(/==?/);
  return labels[label] === value;
}

function fieldAt(object: KubeObject, path: string): unknown {
  return path.split('.').reduce<unknown>((at, field) => (isFields(at) ? at[field] : undefined), object) ?? '';
}
