import type { SecretObject } from '../../imports/kubernetes.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { isControlledBy } from '../kube/object.ts';
import { clientIn, writeKubeconfig } from '../pki/kubeconfig.ts';
import { done, type Outcome } from '../engine/outcome.ts';
import { adminPlan } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { renewalTime } from '../pki/reissue-policy.ts';
import { unlessRefused } from '../engine/refusals.ts';
import { kubeconfigSecret } from '../pki/secret.ts';
import { phase } from './scope.ts';
import { caCertificates } from './ca-certificates.ts';
import { caPair, issueIfDue } from './certificates.ts';
import { endpoint } from './endpoint.ts';
import { secretProps } from '../certificates/secret-props.ts';

/**
 * The kubeconfig that Cluster API uses. It exists as soon as the endpoint is known: Cluster API reads it when the
 * infrastructure is ready, and retries only after half a minute.
 */
export const kubeconfig = phase({
  condition: 'AdminKubeconfigReady',
  needs: [caCertificates, endpoint],
  async run(scope): Promise<Outcome> {
    const { cluster, facts, hostedControlPlane, onRefused, reader, writer } = scope;
    const plan = adminPlan(cluster.name);
    const existing = reader.get<SecretObject>(Secret, plan.secret);
    // Cluster API uses a kubeconfig that a user provides, and the operator does not change it.
    if (existing && !isControlledBy(existing, hostedControlPlane.metadata.uid)) return done();

    const client = await issueIfDue(scope, plan, clientIn(existing));
    const desired = kubeconfigSecret(
      secretProps(scope, plan.secret),
      writeKubeconfig({
        cluster: cluster.name,
        endpoint: facts.endpoint,
        ca: caPair(scope, 'cluster').certificate,
        client,
      }),
    );

    if (existing) await writer.apply([desired], { onRefused });
    else {
      const live = await unlessRefused(scope, desired, writer.createOnce<SecretObject>(desired));
      // From now on the watch includes it, and the operator reports its expiry.
      if (live && !isControlledBy(live, hostedControlPlane.metadata.uid)) await writer.adopt(Secret, plan.secret);
    }
    return done({}, renewalTime(client.certificate, plan.secret));
  },
});
