import { z } from 'zod';
import { etcdPod, etcdPodRules } from './etcd-spec.ts';
import { Overlay } from './overlay-spec.ts';
import { ApiServerPod, controllerManagerPod, schedulerPod } from './pod-spec.ts';
import { withRules } from './validation-rule.ts';

const deployment = {
  defaults: Overlay.optional().describe(
    'Additions to the pods of the API server, the controller manager, the scheduler and etcd.',
  ),
  apiServer: ApiServerPod.optional().describe('Pods of the API server.'),
  controllerManager: z.object(controllerManagerPod).optional().describe('Pods of the controller manager.'),
  scheduler: z.object(schedulerPod).optional().describe('Pods of the scheduler.'),
};

/** @internal */
export const ComponentTemplateSpec = withRules(
  z
    .object({
      deployment: z
        .object(deployment)
        .optional()
        .describe('Pods of the control plane, as spec.deployment of a HostedControlPlane.'),
      etcd: withRules(z.object(etcdPod), etcdPodRules)
        .optional()
        .describe('Pods of etcd, as spec.etcd of a HostedControlPlane.'),
    })
    .meta({ minProperties: 1 }),
  [
    {
      rule: 'self == oldSelf',
      message:
        'the spec of a HostedControlPlaneComponentTemplate cannot change, because every control plane that refers to it would restart: create another one, and name it in spec.componentTemplateRef of the control planes that are to follow',
    },
  ],
);
/**
 * Settings of the pods of many control planes, in the shape that they have in a HostedControlPlane, without what differs per
 * cluster. It never changes, so that no control plane restarts because of an edit of what it refers to.
 */
export type ComponentTemplateSpec = z.output<typeof ComponentTemplateSpec>;

/** The template that a HostedControlPlane refers to. */
export interface ComponentTemplate {
  readonly name: string;
  readonly spec: ComponentTemplateSpec;
}
