import { z } from 'zod';
import { inBoth, whenSet } from '../class-patch.ts';
import type { VariableRows } from './row.ts';

/** OpenStack's name for its default type of volumes. */
const defaultVolumeType = '__DEFAULT__';

const BlockDevice = z.object({
  name: z.string().min(1).describe('Name of the device, by which CAPO labels it.'),
  sizeGiB: z.int32().min(1).default(20).describe('Size in GiB.'),
  type: z.string().min(1).default(defaultVolumeType).describe('Type of the volume in OpenStack.'),
});

/** Variables of the workers' machines. */
export const workerVariables = {
  workerFlavor: {
    schema: z.string().min(1).default('SCS-4V-8').describe('Flavor of the machines.'),
    patches: [
      {
        name: 'workerFlavor',
        target: 'worker',
        operations: {
          v1beta1: [{ op: 'replace', path: '/flavor', variable: 'workerFlavor' }],
          v1beta2: [{ op: 'replace', path: '/flavor', template: 'filter:\n  name: {{ .workerFlavor | quote }}\n' }],
        },
      },
    ],
  },
  workerRootDisk: {
    schema: z
      .int32()
      .min(0)
      .default(50)
      .describe("Size in GiB of the volume on which a machine's root disk is; 0 uses the disk of the flavor."),
    patches: [
      {
        name: 'workerRootDisk',
        target: 'worker',
        enabledIf: whenSet('workerRootDisk'),
        operations: inBoth({ op: 'add', path: '/rootVolume', template: 'sizeGiB: {{ .workerRootDisk }}' }),
      },
    ],
  },
  workerServerGroupID: {
    schema: z
      .string()
      .default('')
      .describe('ID of the server group of the machines, which keeps them on different hosts.'),
    patches: [
      {
        name: 'workerServerGroupID',
        target: 'worker',
        enabledIf: whenSet('workerServerGroupID'),
        operations: inBoth({ op: 'add', path: '/serverGroup', template: 'id: {{ .workerServerGroupID | quote }}' }),
      },
    ],
  },
  workerAdditionalBlockDevices: {
    schema: z.array(BlockDevice).default([]).describe('Additional volumes of each machine.'),
    patches: [
      {
        name: 'workerAdditionalBlockDevices',
        target: 'worker',
        enabledIf: whenSet('workerAdditionalBlockDevices'),
        operations: inBoth({
          op: 'add',
          path: '/additionalBlockDevices',
          template: [
            '{{ range .workerAdditionalBlockDevices }}',
            '- name: {{ .name | quote }}',
            '  sizeGiB: {{ .sizeGiB }}',
            '  storage:',
            '    type: Volume',
            '    volume:',
            '      type: {{ .type | quote }}',
            '{{ end }}',
          ].join('\n'),
        }),
      },
    ],
  },
  workerSecurityGroups: {
    schema: z.array(z.string()).default([]).describe('Additional security groups of the machines, by name.'),
    patches: { partOf: 'securityGroups' },
  },
  workerSecurityGroupIDs: {
    schema: z.array(z.string()).default([]).describe('Additional security groups of the machines, by ID.'),
    patches: { partOf: 'securityGroups' },
  },
} as const satisfies VariableRows;
