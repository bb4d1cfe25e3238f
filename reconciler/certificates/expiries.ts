import type { SecretObject } from '../../imports/kubernetes.ts';
import {
  type CertificateKind,
  type CertificateStatus,
  certificateKinds,
} from '../../constructs/api/certificate-status.ts';
import type { HostedControlPlane } from '../../constructs/api/hosted-control-plane.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { HostedCluster } from '../../constructs/cluster/cluster.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { wholeSeconds } from '../kube/micro-time.ts';
import { isControlledBy } from '../kube/object.ts';
import type { StatusReport } from '../engine/status-report.ts';
import type { Reader } from '../clusters/management/view.ts';
import { type CertificateContent, readCertificate } from '../pki/certificate.ts';
import { clientIn } from '../pki/kubeconfig.ts';
import { renewalTime } from '../pki/reissue-policy.ts';
import { valueOf } from '../pki/secret.ts';
import type { SecretRole } from '../../constructs/control-plane/certificates/certificate-consumers.ts';

interface ExpiryProps {
  readonly cluster: Pick<HostedCluster, 'name'>;
  readonly hostedControlPlane: Pick<HostedControlPlane, 'metadata'>;
  readonly reader: Pick<Reader, 'get'>;
  readonly now: Date;
}

/**
 * Renewal begins with 40 to 50 % of the lifetime left. Below that it is late, with two thirds of the reaction time
 * still left.
 */
const expiringShare = 0.4;

/** The certificates in use, by kind, including a user's own. The policy reports certificates that cannot be read. */
export function certificateExpiries({ cluster, hostedControlPlane, reader, now }: ExpiryProps): CertificateStatus[] {
  const { secrets } = namesOf(cluster.name);
  const { uid } = hostedControlPlane.metadata;
  const found = (Object.keys(kindOf) as CertificateRole[]).flatMap((role) => {
    const object = reader.get<SecretObject>(Secret, secrets[role]);
    const certificate = object && certificateIn(object, role);
    const content = certificate === undefined ? undefined : readable(certificate);
    if (!object || certificate === undefined || !content) return [];
    const secret = object.metadata.name;
    const renewsAt = isControlledBy(object, uid) ? { renewsAt: wholeSeconds(renewalTime(certificate, secret)) } : {};
    return [{ kind: kindOf[role], secret, content, renewsAt }];
  });
  return certificateKinds.flatMap((kind) => {
    const ofKind = found
      .filter((entry) => entry.kind === kind)
      .sort((a, b) => a.content.notAfter.getTime() - b.content.notAfter.getTime());
    const [first] = ofKind;
    if (!first) return [];
    const expiring = ofKind.filter(({ content }) => isExpiring(content, now)).map(({ secret }) => secret);
    return [
      {
        kind,
        notAfter: wholeSeconds(first.content.notAfter),
        secret: first.secret,
        ...first.renewsAt,
        ...(expiring.length > 0 ? { expiring } : {}),
      },
    ];
  });
}

/** The status fields: the certificates, and when the first of them expires. */
export function expiryReport(props: ExpiryProps): StatusReport {
  const certificates = certificateExpiries(props);
  const [first] = certificates.map(({ notAfter }) => notAfter).sort();
  return first === undefined ? {} : { certificates, certificatesNotAfter: first };
}

type Life = Pick<CertificateContent, 'notBefore' | 'notAfter'>;

/** When less than 40 % of the lifetime is left. */
export function expiringFrom({ notBefore, notAfter }: Life): Date {
  return new Date(notAfter.getTime() - expiringShare * (notAfter.getTime() - notBefore.getTime()));
}

/** Whether less than 40 % of the lifetime is left. */
export function isExpiring(life: Life, now: Date): boolean {
  return now > expiringFrom(life);
}

/** The certificate of a Secret; for a kubeconfig, that of its user. */
export function certificateIn(object: SecretObject, role: CertificateRole): string | undefined {
  return role === 'kubeconfig' ? clientIn(object)?.certificate : valueOf(object, 'tls.crt');
}

function readable(certificate: string): CertificateContent | undefined {
  try {
    return readCertificate(certificate);
  } catch {
    return undefined;
  }
}

/** A Secret with a certificate. Service account keys and encryption keys never expire. */
export type CertificateRole = Exclude<SecretRole, 'serviceAccount' | 'encryption'>;

/** The kind with which each certificate is reported in the status. */
export const kindOf: Readonly<Record<CertificateRole, CertificateKind>> = {
  clusterCA: 'ClusterCA',
  etcdCA: 'EtcdCA',
  frontProxyCA: 'ProxyCA',
  apiServer: 'Server',
  konnectivityServer: 'Server',
  tunnel: 'Server',
  apiServerKubeletClient: 'Client',
  frontProxyClient: 'Client',
  konnectivityClient: 'Client',
  controllerManager: 'Client',
  scheduler: 'Client',
  controller: 'Client',
  etcdServer: 'EtcdServer',
  etcdPeer: 'EtcdServer',
  apiServerEtcdClient: 'EtcdClient',
  etcdController: 'EtcdClient',
  kubeconfig: 'Kubeconfig',
};
