import type { Stryker } from '@stryker-mutator/core';

/** Modules with decisions: pure, and without visible errors when they are wrong. */
const decisions = [
  'constructs/cluster/{minors,versions}.ts',
  'reconciler/backup/{causes,plan-backup,retention,schedule}.ts',
  'reconciler/backup/verify/plan-verification.ts',
  'reconciler/encryption-at-rest/plan-rotation.ts',
  'reconciler/etcd/{leadership,maintenance,members,membership,plan-step,quorum-guard,volume-size}.ts',
  'reconciler/desired-state/upgrade/version-rules.ts',
  'reconciler/engine/run-phases.ts',
  'reconciler/kube/{apply-decision,lease-decision}.ts',
  'reconciler/certificates/kubelets/plan-approval.ts',
  'reconciler/pki/reissue-policy.ts',
  'reconciler/certificates/issuer/plan-request.ts',
  'reconciler/backup/restore/plan-restore.ts',
  'reconciler/certificates/{ca,service-account-key}/plan-*.ts',
  'reconciler/certificates/workers/plan-worker-move.ts',
  'reconciler/reconcile/status/{api-servers,summaries}.ts',
];

/**
 * `npm run mutate` changes these modules in one place at a time and runs the tests that reach the place; for one of them,
 * `npm run mutate -- --mutate reconciler/engine/run-phases.ts`. The score of all modules, and what is left, are in
 * test/MUTATIONS.md.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/tools/mutation/vitest.config.ts' },
  coverageAnalysis: 'perTest',
  mutate: decisions,
  mutator: {
    // It makes every text empty. A text here is either a member of a union type, and then the mutant does not
    // compile, which Stryker cannot detect: its checker needs the JavaScript API of TypeScript before 7. Or it is a sentence
    // for people, and tests that repeat all of them would check the wording and not the decision. If a user acts upon a
    // sentence, its own test asserts what it has to name.
    excludedMutations: ['StringLiteral'],
  },
  // Code that runs once, when a module is loaded, needs a process for each mutant: hours, to empty tables that many tests read.
  ignoreStatic: true,
  // Two processes at most, and `nice`: other processes use the machine.
  concurrency: 2,
  // A mutant that never ends counts as detected, too; one that waits for a busy machine does not.
  timeoutMS: 60_000,
  // A second run only tests what has changed since.
  incremental: true,
  incrementalFile: 'build/mutation/incremental.json',
  reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, logTests: false },
  htmlReporter: { fileName: 'build/mutation/report.html' },
  jsonReporter: { fileName: 'build/mutation/report.json' },
  tempDirName: 'build/mutation/sandbox',
  // There is no such file: Stryker would rewrite the real one by the same API of TypeScript.
  tsconfigFile: 'none',
} satisfies ConstructorParameters<typeof Stryker>[0];
