/** Parts of the bench that measure control planes in a testbed. */
export const testbedParts = ['control-planes', 'workers', 'in-cluster-access', 'rest', 'upgrade'] as const;
/** Parts that need no testbed, only processes. */
export const processParts = ['backups', 'stalls', 'audit', 'fleet', 'outages', 'hostile'] as const;

export type TestbedPart = (typeof testbedParts)[number];
export type ProcessPart = (typeof processParts)[number];

/** Parts whose work depends on the size of the fleet, not on the number of runs. */
export const fleetParts: readonly string[] = ['fleet', 'outages'] satisfies ProcessPart[];
