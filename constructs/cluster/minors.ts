/** What differs between Kubernetes minors: the only place that knows. Everything else asks here by the name of a change. */

/** Images that do not carry the version of Kubernetes itself. */
export interface MinorDefaults {
  /** kubeadm's choice for that minor: the version upstream tests it with. */
  readonly etcd: string;
  readonly konnectivity: string;
  /** kubeadm's choice too: the Corefile is written for it. */
  readonly coredns: string;
}

/** The supported minors of Kubernetes 1, with their images. */
export const minors: Readonly<Record<number, MinorDefaults>> = {
  32: { etcd: '3.5.24', konnectivity: '0.32.0', coredns: '1.11.3' },
  // here, for 1.35 and for 1.37: the newest release of konnectivity that the tests can build
  33: { etcd: '3.5.24', konnectivity: '0.34.0', coredns: '1.12.0' },
  34: { etcd: '3.6.5', konnectivity: '0.34.0', coredns: '1.12.1' },
  35: { etcd: '3.6.6', konnectivity: '0.34.0', coredns: '1.13.1' },
  36: { etcd: '3.6.8', konnectivity: '0.36.0', coredns: '1.14.2' },
  37: { etcd: '3.7.0', konnectivity: '0.36.0', coredns: '1.14.6' },
};

/** The minors that can be rendered. Every test run uses binaries of the newest three, the soak tests those of the two before. */
export const supportedMinors: readonly number[] = Object.keys(minors).map(Number);

/** The supported minors as text, such as `1.32 to 1.37`. */
export const supportedRange = `1.${Math.min(...supportedMinors)} to 1.${Math.max(...supportedMinors)}`;

/** Changes of behaviour, each from the minor on that brings it. */
const changes = {
  /** API servers report in their metrics which encryption configuration they have loaded. */
  reportsLoadedEncryption: 34,
  /** API servers serve MutatingAdmissionPolicy as v1beta1, when a feature gate and the API are switched on. */
  servesMutatingPolicies: 34,
  /** API servers read their authentication configuration as v1; before, as v1beta1. */
  servesAuthenticationConfigurationV1: 34,
  /** MutatingAdmissionPolicy is v1 and on by default. */
  servesMutatingPoliciesByDefault: 36,
  /**
   * Programs with client-go read the CA file of their kubeconfig again, at the next request after five minutes have passed
   * since they last did. They read the client certificate in it again in every minor.
   */
  reloadsKubeconfigCA: 36,
  /**
   * API servers, controller manager and scheduler of this minor all emulate the minor before, also with mutating admission
   * policies. Those of 1.34 and before were never run this way.
   */
  emulatesMinorBefore: 35,
} as const;

/** The name of a change between minors. */
export type MinorChange = keyof typeof changes;

/** The minor that brings a change, such as 36. */
export function firstMinorWith(change: MinorChange): number {
  return changes[change];
}
