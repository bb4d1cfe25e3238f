import { done } from '../../engine/outcome.ts';
import { apiServer } from '../api-server.ts';
import { kubeconfig } from '../kubeconfig.ts';
import { workloadPart } from './part.ts';

/** Rights in the hosted cluster, our own among them: with those its watches begin. */
export const workloadRBAC = workloadPart({
  condition: 'WorkloadRBACReady',
  needs: [apiServer, kubeconfig],
  part: 'rbac',
  judge(_, scope) {
    const hosted = scope.hosted(scope.facts);
    hosted.watch();
    return done({ nodes: hosted.nodes() });
  },
});
