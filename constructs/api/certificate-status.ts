import { z } from 'zod';

const time = () => z.iso.datetime({ offset: true });

/** The kinds of certificates in the status, in the order in which they are reported. */
export const certificateKinds = [
  'ClusterCA',
  'EtcdCA',
  'ProxyCA',
  'Server',
  'Client',
  'EtcdServer',
  'EtcdClient',
  'Kubeconfig',
] as const;

export type CertificateKind = (typeof certificateKinds)[number];

/** The certificates of one kind, represented by the one that expires first. */
export const CertificateStatus = z
  .object({
    kind: z
      .enum(certificateKinds)
      .describe(
        'Purpose of the certificates. Client and EtcdClient belong to components of the control plane; Kubeconfig is the one that Cluster API uses.',
      ),
    notAfter: time().describe('Time at which the first of them expires.'),
    secret: z.string().max(253).describe('Secret that holds the certificate that expires first.'),
    renewsAt: time()
      .optional()
      .describe(
        'Time at which the operator renews that certificate, or replaces that CA. Unset for certificates that the user provides.',
      ),
    expiring: z.array(z.string().max(253).describe('Name of a Secret.')).max(16).optional().meta({
      'x-kubernetes-list-type': 'set',
      description: 'Secrets with certificates that have less than 40 % of their lifetime left: their renewal is late.',
    }),
  })
  .describe('The certificates of one kind.');
export type CertificateStatus = z.output<typeof CertificateStatus>;
