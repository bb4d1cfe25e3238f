import { z } from 'zod';

const time = () => z.iso.datetime({ offset: true });

/** What certificates are told apart by in the status, in the order they are reported. */
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

/** The certificates of one kind, by the one that ends first. */
export const CertificateStatus = z
  .object({
    kind: z
      .enum(certificateKinds)
      .describe(
        'What the certificates are for. Client and EtcdClient are those of our own components; Kubeconfig is the one that Cluster API uses.',
      ),
    notAfter: time().describe('When the first of them ends.'),
    secret: z.string().max(253).describe('Secret that holds that one.'),
    renewsAt: time()
      .optional()
      .describe('When that one is renewed, or a CA replaced, by itself; missing for what the user has put there.'),
    expiring: z.array(z.string().max(253).describe('Name of a Secret.')).max(16).optional().meta({
      'x-kubernetes-list-type': 'set',
      description: 'Secrets with certificates that have less than 40 % of their life left: their renewal is late.',
    }),
  })
  .describe('Certificates of one kind.');
export type CertificateStatus = z.output<typeof CertificateStatus>;
