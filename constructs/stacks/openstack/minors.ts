import { supportedMinors } from '../../cluster/minors.ts';

/** What differs between the stacks of two Kubernetes minors. */
export interface StackMinor {
  /** The version of Kubernetes for which the versions below are published, and that of the sample. */
  readonly kubernetes: string;
  /** Versions of the Helm charts of the add-ons. */
  readonly charts: {
    readonly 'openstack-cloud-controller-manager': string;
    readonly 'openstack-cinder-csi': string;
    readonly cilium: string;
    readonly 'metrics-server': string;
  };
}

/** Versions of the charts in the order of the table below. */
const charts = (cloudControllerManager: string, cinder: string, cilium: string): StackMinor['charts'] => ({
  'openstack-cloud-controller-manager': cloudControllerManager,
  'openstack-cinder-csi': cinder,
  cilium,
  'metrics-server': '3.13.0',
});

/**
 * The minors of Kubernetes 1 with a stack. 1.31 has none, because the provider renders no control plane of it. The charts
 * of 1.36 and 1.37 are those of 1.35, the newest ones that a published stack names.
 */
export const stackMinors: Readonly<Record<number, StackMinor>> = {
  32: { kubernetes: '1.32.8', charts: charts('2.32.0', '2.32.2', '1.18.1') },
  33: { kubernetes: '1.33.6', charts: charts('2.33.1', '2.33.1', '1.18.1') },
  34: { kubernetes: '1.34.10', charts: charts('2.34.2', '2.34.3', '1.19.1') },
  35: { kubernetes: '1.35.8', charts: charts('2.35.0', '2.35.0', '1.19.1') },
  36: { kubernetes: '1.36.4', charts: charts('2.35.0', '2.35.0', '1.19.1') },
  37: { kubernetes: '1.37.1', charts: charts('2.35.0', '2.35.0', '1.19.1') },
};

/** The minors whose stacks are part of a release: those that its provider supports. */
export const renderedMinors: readonly number[] = supportedMinors.filter((minor) => stackMinors[minor] !== undefined);

/** The one whose stack shows in `dist/` what the others are, too. */
export const newestMinor = Math.max(...renderedMinors);

/** The row of a minor. @throws for a minor without a stack */
export function stackMinor(minor: number): StackMinor {
  const found = stackMinors[minor];
  if (!found) throw new Error(`there is no OpenStack stack for Kubernetes 1.${minor}: use ${namesOf(stackMinors)}`);
  return found;
}

function namesOf(minors: Readonly<Record<number, StackMinor>>): string {
  return Object.keys(minors)
    .map((minor) => `1.${minor}`)
    .join(', ');
}
