import { z } from 'zod';
import { inBoth, whenEqual, whenSet } from '../class-patch.ts';
import type { VariableRows } from './row.ts';

/** Variables of the control plane. */
export const controlPlaneVariables = {
  controlPlaneReplicas: {
    schema: z
      .int32()
      .min(1)
      .default(3)
      .describe(
        'Number of API servers. Applies only where spec.topology.controlPlane.replicas of the Cluster is unset.',
      ),
    patches: [
      {
        name: 'controlPlaneReplicas',
        target: 'controlPlane',
        operations: inBoth({ op: 'add', path: '/replicas', variable: 'controlPlaneReplicas' }),
      },
    ],
  },
  gatewayName: {
    schema: z
      .string()
      .max(253)
      .default('')
      .describe(
        'Gateway that the control plane shares. If empty, the control plane has a Service of type LoadBalancer in the management cluster.',
      ),
    patches: [
      {
        name: 'gatewayName',
        target: 'controlPlane',
        enabledIf: whenSet('gatewayName'),
        operations: inBoth({
          op: 'add',
          path: '/gateway',
          template: 'name: {{ .gatewayName | quote }}\nnamespace: {{ .gatewayNamespace | quote }}\n',
        }),
      },
      {
        name: 'withoutGateway',
        target: 'controlPlane',
        enabledIf: whenEqual('gatewayName', ''),
        operations: inBoth({ op: 'add', path: '/exposure', value: { loadBalancer: {} } }),
      },
    ],
  },
  gatewayNamespace: {
    schema: z.string().min(1).max(63).default('default').describe('Namespace of that Gateway.'),
    patches: { partOf: 'gatewayName' },
  },
  certSANs: {
    schema: z
      .array(z.string())
      .default([])
      .describe("Additional host names and IP addresses in the API server's certificate."),
    patches: [
      {
        name: 'certSANs',
        target: 'controlPlane',
        enabledIf: whenSet('certSANs'),
        operations: inBoth({ op: 'add', path: '/apiServer/certSANs', variable: 'certSANs' }),
      },
    ],
  },
} as const satisfies VariableRows;
