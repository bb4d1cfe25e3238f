import { z } from 'zod';
import { templateFields } from './hosted-control-plane.ts';
import { atMostOneExposure, noLoadBalancerBesideNodePort } from './hosted-control-plane-rules.ts';
import { TemplateMetadata } from './topology-spec.ts';
import { withRules } from './validation-rule.ts';

/** What a ClusterClass makes HostedControlPlanes from: no version, replicas or endpoint, which differ per cluster. */
export const HostedControlPlaneTemplateSpec = z.object({
  template: z
    .object({
      metadata: TemplateMetadata.optional().describe('Labels and annotations of the HostedControlPlanes.'),
      spec: withRules(z.object(templateFields), [atMostOneExposure, noLoadBalancerBesideNodePort])
        .prefault({})
        .describe('Spec of the HostedControlPlanes.'),
    })
    .describe('What each HostedControlPlane starts from.'),
});
export type HostedControlPlaneTemplateSpec = z.output<typeof HostedControlPlaneTemplateSpec>;

/** A template of hosted control planes, as a ClusterClass refers to it. */
export interface HostedControlPlaneTemplate {
  readonly apiVersion: string;
  readonly kind: 'HostedControlPlaneTemplate';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: HostedControlPlaneTemplateSpec;
}
