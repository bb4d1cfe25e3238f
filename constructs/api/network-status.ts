import { z } from 'zod';

const networks = (of: string) =>
  z
    .array(z.string().min(1).max(64).describe('A network, such as 10.96.0.0/12.'))
    .min(1)
    .max(2)
    .describe(`Networks of ${of}: one, or one for each IP family.`);

/** The networks and the DNS domain that a control plane was initialized with. */
export const NetworkStatus = z
  .object({
    serviceDomain: z.string().min(1).max(253).describe('DNS domain of the hosted cluster.'),
    services: networks('Services'),
    pods: networks('pods'),
  })
  .describe(
    'Networks and DNS domain with which the control plane was initialized. It keeps them, whatever the Cluster says later.',
  );
export type NetworkStatus = z.output<typeof NetworkStatus>;
