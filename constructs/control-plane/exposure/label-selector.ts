import type { k8s } from 'cdk8s-plus-30';

type Labels = Readonly<Record<string, string>>;
type Expression = k8s.LabelSelectorRequirement;

/** Whether a label selector of Kubernetes selects something with these labels. An empty one selects everything. */
export function selects({ matchLabels = {}, matchExpressions = [] }: k8s.LabelSelector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, values = [] }: Expression, labels: Labels): boolean {
  const value = labels[key];
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
      // An operator that Kubernetes adds one day: what is not understood admits nobody.
      return false;
  }
}
