/**
 * What programs of Go run with: they collect garbage when four times as much is new, not as much again. A testbed has
 * memory to spare and no processors, of which collecting takes an API server a fifth.
 */
export const goEnvironment = { GOGC: '400' } as const;
