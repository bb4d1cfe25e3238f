/** Parts of the bench that measure control planes in a testbed. */
export const testbedParts = ['control-planes', 'workers', 'in-cluster-access', 'rest', 'upgrade'] as const;
/** Parts that need no testbed, only processes. */
export const hostParts = ['backups', 'stalls', 'audit', 'fleet'] as const;

export type TestbedPart = (typeof testbedParts)[number];
export type HostPart = (typeof hostParts)[number];
