import { z } from 'zod';

/** Which kind of policies restrict the traffic of a control plane's pods. */
export const NetworkPolicySpec = z
  .enum(['Auto', 'NetworkPolicy', 'CiliumNetworkPolicy', 'Disabled'])
  .default('Auto')
  .describe(
    'Policies that restrict the traffic of the control plane in the management cluster: NetworkPolicy, CiliumNetworkPolicy, or none with Disabled. Auto takes CiliumNetworkPolicy where that API is served. Policies add up: allow more, such as scraping of metrics, with one of your own.',
  );
export type NetworkPolicySpec = z.output<typeof NetworkPolicySpec>;
