import { defineConfig } from 'vitest/config';

/**
 * The tests that `npm run mutate` runs: those beside the modules that it changes, which document the behaviour of a
 * module. Other tests may detect a mutant as well, such as those that reconcile all phases, the model of etcd
 * and the simulation of years; they take seconds for each mutant, and a failure there does not show which rule is
 * wrong.
 */
export default defineConfig({
  test: {
    include: [
      'test/constructs/cluster/versions.test.ts',
      'test/reconciler/backup/{causes,plan-backup,retention,schedule}.test.ts',
      'test/reconciler/backup/verify/plan-verification.test.ts',
      'test/reconciler/encryption-at-rest/plan-rotation.test.ts',
      'test/reconciler/etcd/{maintenance,members,membership,plan-step,quorum-guard,rollout,volume-size}.test.ts',
      'test/reconciler/desired-state/upgrade/version-rules.test.ts',
      'test/reconciler/engine/run-phases.test.ts',
      'test/reconciler/reconcile/status/observed-status.test.ts',
      'test/reconciler/reconcile/status/summaries.test.ts',
      'test/reconciler/kube/{apply-decision,lease-decision}.test.ts',
      'test/reconciler/certificates/kubelets/plan-approval.test.ts',
      'test/reconciler/pki/{pki,reissue-policy}.test.ts',
      'test/reconciler/certificates/issuer/plan-request.test.ts',
      'test/reconciler/backup/restore/plan-restore.test.ts',
      'test/reconciler/certificates/**/plan-*.test.ts',
    ],
    // As for all pure tests: on a busy machine a shorter timeout would count slow tests as detected mutants.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
