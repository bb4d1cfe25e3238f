import { z } from 'zod';
import { templateFields } from './hosted-control-plane.ts';
import { atMostOneExposure, noLoadBalancerBesideNodePort } from './hosted-control-plane-rules.ts';
import { TemplateMetadata } from './topology-spec.ts';
import { withRules } from './validation-rule.ts';

/** @internal */
export const HostedControlPlaneTemplateSpec = z.object({
  template: z
    .object({
      metadata: TemplateMetadata.optional().describe('Labels and annotations of the HostedControlPlanes.'),
      spec: withRules(z.object(templateFields), [atMostOneExposure, noLoadBalancerBesideNodePort])
        .prefault({})
        .describe('Spec of the HostedControlPlanes.'),
    })
    .describe('Metadata and spec of the HostedControlPlanes that are created from the template.'),
});
/**
 * The template from which a ClusterClass creates HostedControlPlanes. It has no version, replicas or endpoint, which
 * differ per cluster.
 */
export type HostedControlPlaneTemplateSpec = z.output<typeof HostedControlPlaneTemplateSpec>;

/** A template of hosted control planes, to which a ClusterClass refers. */
export interface HostedControlPlaneTemplate {
  readonly apiVersion: string;
  readonly kind: 'HostedControlPlaneTemplate';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: HostedControlPlaneTemplateSpec;
}
