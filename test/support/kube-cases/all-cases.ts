import { applyListCases } from './apply-lists.ts';
import { applyCases } from './apply.ts';
import type { KubeCase } from './kube-case.ts';
import { lifecycleCases } from './lifecycle.ts';
import { readingCases } from './reading.ts';

/**
 * What an API server does, as far as this product relies on it. Real ones are asked in test/cluster/kube, the one in memory
 * beside it: where they differ, the one in memory is wrong.
 */
export const kubeCases: readonly KubeCase[] = [...lifecycleCases, ...applyCases, ...applyListCases, ...readingCases];
