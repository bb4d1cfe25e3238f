import { z } from 'zod';

/** The kind of the policies that restrict the traffic of a control plane's pods. */
export const NetworkPolicySpec = z
  .enum(['Auto', 'NetworkPolicy', 'CiliumNetworkPolicy', 'Disabled'])
  .default('Auto')
  .describe(
    'Policies that restrict the traffic of the control plane in the management cluster: NetworkPolicy, CiliumNetworkPolicy, or none with Disabled. Auto selects CiliumNetworkPolicy where the management cluster serves that API. Policies are additive: to allow more traffic, such as metrics scraping, add a policy of your own.',
  );
export type NetworkPolicySpec = z.output<typeof NetworkPolicySpec>;
