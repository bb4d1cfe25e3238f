import type { k8s } from 'cdk8s-plus-30';
import { itemsOf } from '../../cluster/foreign-values.ts';

type Labels = Readonly<Record<string, string>>;
type Expression = k8s.LabelSelectorRequirement;

/** Whether a Kubernetes label selector matches these labels. An empty selector matches everything. */
export function selects({ matchLabels, matchExpressions }: k8s.LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    itemsOf(matchExpressions).every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, ...given }: Expression, labels: Labels): boolean {
  const value = labels[key];
  const values = itemsOf(given.values);
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      // An unknown operator, which a later Kubernetes may add, matches nothing.
      return false;
  }
}
