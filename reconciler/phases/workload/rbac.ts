import { done, notObserved } from '../../engine/outcome.ts';
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
  // What an operator before this one has applied needs no request.
  async before(scope) {
    const { initialization } = scope.hostedControlPlane.status ?? {};
    if (!initialization?.controlPlaneInitialized || (await scope.hosted(scope.facts).hasListed())) return done();
    return notObserved('the operator has not listed the objects of the hosted cluster yet');
  },
  judge(_, scope) {
    const hosted = scope.hosted(scope.facts);
    hosted.watch();
    return done({ nodes: hosted.nodes() });
  },
});
