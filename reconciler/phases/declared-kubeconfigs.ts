import type { SecretObject } from '../../imports/kubernetes.ts';
import type { Kubeconfigs } from '../../constructs/api/kubeconfig-spec.ts';
import { durationSeconds } from '../../constructs/api/duration.ts';
import { Secret } from '../../constructs/api/resources.ts';
import { selectorLabels } from '../../constructs/cluster/labels.ts';
import { declaredPlan } from '../../constructs/control-plane/certificates/certificate-plans.ts';
import { degraded, done, notRequested, type Outcome } from '../engine/outcome.ts';
import { unlessRefused } from '../engine/refusals.ts';
import { isControlledBy } from '../kube/object.ts';
import { readCertificate } from '../pki/certificate.ts';
import { issuedAt } from '../pki/issue.ts';
import { clientIn, writeKubeconfig } from '../pki/kubeconfig.ts';
import { renewalTime } from '../pki/reissue-policy.ts';
import { secretProps } from '../certificates/secret-props.ts';
import { declaredLabel, declaredSecret } from '../pki/secret.ts';
import { caCertificates } from './ca-certificates.ts';
import { caPair, issueIfDue } from './certificates.ts';
import { endpoint } from './endpoint.ts';
import { phase, type Scope } from './scope.ts';

/** Keeps the kubeconfigs that the spec declares in Secrets, and deletes those that it no longer does. */
export const declaredKubeconfigs = phase({
  condition: 'KubeconfigsReady',
  needs: [caCertificates, endpoint],
  async run(scope): Promise<Outcome> {
    const { cluster, reader, writer } = scope;
    const declared = cluster.spec.kubeconfigs ?? [];
    const kept = await Promise.all(declared.map((one) => keep(scope, one)));
    const names = new Set(declared.map(({ name }) => name));
    for (const secret of reader.list<SecretObject>(Secret, selectorLabels(cluster.name, 'certificates'))) {
      const name = secret.metadata.labels?.[declaredLabel];
      if (name !== undefined && !names.has(name) && isControlled(scope, secret)) await writer.delete(Secret, secret);
    }
    const renewals = kept.flatMap(({ renewal }) => renewal?.getTime() ?? []);
    const requeueAt = renewals.length === 0 ? undefined : new Date(Math.min(...renewals));
    const taken = kept.filter(({ renewal }) => renewal === undefined).map(({ secret }) => secret);
    if (declared.length === 0) return notRequested();
    if (taken.length === 0) return done({}, requeueAt);
    return degraded(
      'SecretNameTaken',
      `Secret ${taken.join(', ')} is not of the operator, which does not change it: give the entry of spec.kubeconfigs another name, or delete the Secret`,
      { requeueAt },
    );
  },
});

function isControlled({ hostedControlPlane }: Scope, secret: SecretObject): boolean {
  return isControlledBy(secret, hostedControlPlane.metadata.uid);
}

interface Kept {
  readonly secret: string;
  /** When the operator replaces its certificate; undefined if another client has created a Secret with its name. */
  readonly renewal: Date | undefined;
}

/** Writes one Secret, unless another client has created one with its name. */
async function keep(scope: Scope<'endpoint'>, declared: Kubeconfigs[number]): Promise<Kept> {
  const { cluster, facts, onRefused, reader, writer } = scope;
  const plan = declaredPlan(cluster.name, declared);
  const seconds = durationSeconds(declared.lifetime);
  const existing = reader.get<SecretObject>(Secret, plan.secret);
  const current = clientIn(existing);
  const client = await issueIfDue(
    scope,
    plan,
    current && lasts(current.certificate, seconds) ? current : undefined,
    seconds,
  );
  const content = writeKubeconfig({
    cluster: cluster.name,
    user: declared.user,
    endpoint: facts.endpoint,
    ca: caPair(scope, 'cluster').certificate,
    client,
  });
  const { secret } = plan;
  const desired = declaredSecret(secretProps(scope, secret), declared.name, content);
  // The watch does not include the Secrets of others.
  const live = existing ?? (await unlessRefused(scope, desired, writer.createOnce<SecretObject>(desired)));
  if (live && !isControlled(scope, live)) return { secret, renewal: undefined };
  if (existing) await writer.apply([desired], { onRefused });
  return { secret, renewal: renewalTime(client.certificate, secret) };
}

/** Whether a certificate is valid for no longer than the spec says now. */
function lasts(certificate: string, seconds: number): boolean {
  const content = readCertificate(certificate);
  return content.notAfter.getTime() - issuedAt(content).getTime() <= seconds * 1000;
}
