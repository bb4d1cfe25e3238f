import { applyListCases } from './apply-lists.ts';
import { applyCases } from './apply.ts';
import type { KubeCase } from './kube-case.ts';
import { lifecycleCases } from './lifecycle.ts';
import { readingCases } from './reading.ts';
import { rightsCases } from './rights.ts';

/**
 * What an API server does, as far as this product relies on it. Real API servers run these cases in test/cluster/kube, the
 * in-memory one next to its source. If they differ, the in-memory one is wrong.
 */
export const kubeCases: readonly KubeCase[] = [
  ...lifecycleCases,
  ...applyCases,
  ...applyListCases,
  ...readingCases,
  ...rightsCases,
];
