/**
 * Files that lend control planes to each other, one after the other in this order, so that none waits for another one. They are named
 * without their tier. The first of them is about the birth of the plain one, and the last about its deletion.
 */
export const lentChain: readonly string[] = [
  'test/cluster/reconciler/life.test.ts',
  'test/cluster/reconciler/ca-rotation.test.ts',
  'test/cluster/reconciler/end.test.ts',
];
