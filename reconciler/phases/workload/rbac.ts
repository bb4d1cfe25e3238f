import { done } from '../../engine/outcome.ts';
import { apiServer } from '../api-server.ts';
import { certificates } from '../certificates.ts';
import { hibernation } from '../hibernation.ts';
import { kubeconfig } from '../kubeconfig.ts';
import { workloadPart } from './part.ts';

/** Permissions in the hosted cluster, including those of the operator, with which its watches start. */
export const workloadRBAC = workloadPart({
  condition: 'WorkloadRBACReady',
  needs: [hibernation, certificates, kubeconfig],
  after: [apiServer],
  part: 'rbac',
  judge(_, scope) {
    const hosted = scope.hosted(scope.facts);
    hosted.watch();
    return done({ nodes: hosted.nodes() });
  },
});
