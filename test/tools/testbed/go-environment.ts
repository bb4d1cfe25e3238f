/**
 * Environment of every Go program in a testbed. The garbage collector starts when the heap has grown by 400 %, not by
 * 100 %: the testbed has enough memory, and the collector used a fifth of the management API server's processor time.
 */
export const goEnvironment = { GOGC: '400' } as const;
