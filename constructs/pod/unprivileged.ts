import type { k8s } from 'cdk8s-plus-30';

/** Unprivileged user and group of every container; the ID of `nonroot` in distroless images. */
export const nonRoot = 65532;

/** The settings that PodSecurity "restricted" requires of a pod, independent of its image. */
export const unprivileged = {
  runAsNonRoot: true,
  runAsUser: nonRoot,
  runAsGroup: nonRoot,
  seccompProfile: { type: 'RuntimeDefault' },
} as const satisfies k8s.PodSecurityContext;
