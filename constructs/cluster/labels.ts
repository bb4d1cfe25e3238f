import { clusterNameLabel, fieldManager } from '../api/group.ts';

/** What a pod, Service or Secret is for; the value of `app.kubernetes.io/component`. */
export type ComponentName =
  | 'api-server'
  | 'controller-manager'
  | 'scheduler'
  | 'etcd'
  | 'etcd-restore'
  | 'etcd-verify'
  | 'certificates';

export const componentLabel = 'app.kubernetes.io/component';
export const managedByLabel = 'app.kubernetes.io/managed-by';

/** What selects the pods of one component. Part of immutable selectors: never add a label here. */
export function selectorLabels(cluster: string, component: ComponentName): Record<string, string> {
  return { [clusterNameLabel]: cluster, [componentLabel]: component };
}

/** On every object we render; what the informers select by and the inventory is made of. */
export function objectLabels(cluster: string, component: ComponentName): Record<string, string> {
  return { ...selectorLabels(cluster, component), [managedByLabel]: fieldManager };
}

/** The selector string of a component's pods, as `status.selector` of the scale subresource wants it. */
export function selectorString(cluster: string, component: ComponentName): string {
  return selectorOf(selectorLabels(cluster, component));
}

/** The selector string of objects that have all of these labels. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
}
