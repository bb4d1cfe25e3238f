import { type MinorDefaults, minors } from './minors.ts';

/**
 * What the operator renders a control plane by besides its spec: templates and flags, by their release revision, and default
 * images. The operator records it with the accepted spec. A newer operator then renders the same pods.
 */
export interface Release {
  /** Release revision: counts the changes of what is rendered from the same spec, from 1. */
  readonly revision: number;
  /** Minor of Kubernetes that the images are for, such as 36. */
  readonly minor: number;
  /** Versions of the images that do not carry the version of Kubernetes. */
  readonly images: MinorDefaults;
}

/** The release revision that this operator gives to new control planes. */
export const newestRevision = 4;

/** How many release revisions, the newest one included, a control plane may keep for as long as it likes. */
const keptRevisions = 3;

/** The oldest release revision that control planes may keep while another one is the newest. */
export function oldestKept(newest: number = newestRevision): number {
  return Math.max(1, newest - keptRevisions + 1);
}

/** Whether control planes may keep a release revision while another one is the newest. */
export function isKept(revision: number, newest: number): boolean {
  return revision >= oldestKept(newest);
}

/**
 * Changes of what is rendered from the same spec, each from the release revision on that brings it. What a released revision
 * renders never changes: test/constructs/release-revisions has it.
 */
const changes = {
  /** etcd serves gRPC and HTTP on ports of their own. */
  separatesEtcdHTTP: 2,
  /** The operator, not each API server, writes the address behind the Service `kubernetes`. */
  writesKubernetesEndpoints: 2,
  /** The konnectivity server ends after the API server beside it. */
  endsKonnectivityLast: 3,
  /** API servers serve on while etcd takes seconds to answer. */
  servesWithSlowEtcd: 3,
  /** API servers reach nodes that have an external address only. */
  reachesExternalAddresses: 4,
  /** API servers answer their probes, and `kubeadm join`, also where anonymous requests are refused. */
  answersProbesWithoutAnonymous: 4,
  /** The controller manager gives nodes networks of a size that fits, and none if the user says so. */
  sizesNodeNetworks: 4,
  /** Proxies are asked for nothing that is inside. */
  completesNoProxy: 4,
  /** No two konnectivity agents whose probes have one address are on one node. */
  ownsHealthAddress: 4,
  /** The operator may ask each konnectivity server whether it has an agent. */
  showsAgents: 4,
} as const;

/** The name of a change between release revisions. */
export type ReleaseChange = keyof typeof changes;

/** Whether a control plane is rendered with a change. Without a recorded release it is rendered with all of them. */
export function rendersWith({ release }: { readonly release?: Release | undefined }, change: ReleaseChange): boolean {
  return release === undefined || release.revision >= changes[change];
}

/** Images of release revisions that a later one has replaced, by revision and minor. */
const replacedImages: Readonly<Record<number, Readonly<Record<number, Partial<MinorDefaults>>>>> = {
  1: { 33: { konnectivity: '0.33.0' } },
};

/** The release with the default images of a minor that this revision has always had. */
export function releaseOf(minor: number, revision: number = newestRevision): Release {
  const newest = minors[minor];
  if (!newest) throw new Error(`Kubernetes 1.${minor} is not supported by this release`);
  let images = newest;
  for (let later = newestRevision - 1; later >= revision; later -= 1) {
    images = { ...images, ...replacedImages[later]?.[minor] };
  }
  return { revision, minor, images };
}
