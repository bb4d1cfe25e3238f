import { clusterNameLabel, fieldManager } from '../api/group.ts';

/** The component that a pod, Service or Secret belongs to; the value of `app.kubernetes.io/component`. */
export type ComponentName =
  | 'api-server'
  | 'api-server-check'
  | 'controller-manager'
  | 'scheduler'
  | 'etcd'
  | 'etcd-restore'
  | 'etcd-verify'
  | 'etcd-probe'
  | 'certificates'
  | 'revision';

export const componentLabel = 'app.kubernetes.io/component';
export const managedByLabel = 'app.kubernetes.io/managed-by';

/** Selects the pods of one component. Part of immutable selectors: never add a label here. */
export function selectorLabels(cluster: string, component: ComponentName): Record<string, string> {
  return { [clusterNameLabel]: cluster, [componentLabel]: component };
}

/** On every rendered object. The informers select objects by these labels, and the inventory is built from them. */
export function objectLabels(cluster: string, component: ComponentName): Record<string, string> {
  return { ...selectorLabels(cluster, component), [managedByLabel]: fieldManager };
}

/** The selector string of a component's pods, in the format of `status.selector` of the scale subresource. */
export function selectorString(cluster: string, component: ComponentName): string {
  return selectorOf(selectorLabels(cluster, component));
}

/** The selector string of objects that have all of these labels. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');
}
