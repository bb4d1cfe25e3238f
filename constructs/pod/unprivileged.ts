import type { k8s } from 'cdk8s-plus-30';

/** Unprivileged user and group of every container; the number distroless images use for `nonroot`. */
export const nonRoot = 65532;

/** What PodSecurity "restricted" asks of a pod, whatever its image says. */
export const unprivileged = {
  runAsNonRoot: true,
  runAsUser: nonRoot,
  runAsGroup: nonRoot,
  seccompProfile: { type: 'RuntimeDefault' },
} as const satisfies k8s.PodSecurityContext;
