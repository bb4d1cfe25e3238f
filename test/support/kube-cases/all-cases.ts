import { admissionCases } from './admission.ts';
import { applyListCases } from './apply-lists.ts';
import { applyCases } from './apply.ts';
import type { KubeCase } from './kube-case.ts';
import { lifecycleCases } from './lifecycle.ts';
import { lostAnswerCases } from './lost-answers.ts';
import { readingCases } from './reading.ts';
import { rightsCases } from './rights.ts';

/**
 * What an API server does, as far as this product relies on it. Real API servers run these cases in test/cluster/kube, the
 * in-memory one next to its source. If they differ, the in-memory one is wrong.
 * Those of `controllers.ts` need the controllers of the testbed.
 */
export const kubeCases: readonly KubeCase[] = [
  ...lifecycleCases,
  ...admissionCases,
  ...applyCases,
  ...applyListCases,
  ...readingCases,
  ...rightsCases,
  ...lostAnswerCases,
];
