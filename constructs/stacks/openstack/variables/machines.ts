import { z } from 'zod';
import { inBoth, whenSet } from '../class-patch.ts';
import type { VariableRows } from './row.ts';

/** Lists of security groups, by what their entries are. CAPO keeps one list, so one patch writes all of them. */
const securityGroupLists = [
  { variable: 'securityGroups', entry: 'filter: { name: {{ . | quote }} }' },
  { variable: 'workerSecurityGroups', entry: 'filter: { name: {{ . | quote }} }' },
  { variable: 'securityGroupIDs', entry: 'id: {{ . | quote }}' },
  { variable: 'workerSecurityGroupIDs', entry: 'id: {{ . | quote }}' },
] as const;

/** Variables of the image of machines. */
export const imageVariables = {
  imageName: {
    schema: z.string().min(1).default('ubuntu-capi-image').describe('Name of the image.'),
    patches: [
      {
        name: 'workerImage',
        target: 'worker',
        operations: inBoth({
          op: 'add',
          path: '/image',
          template: [
            '{{ if .imageIsOrc }}imageRef{{ else }}filter{{ end }}:',
            '  name: "{{ .imageName }}{{ if .imageAddVersion }}-{{ .builtin.machineDeployment.version }}{{ end }}"',
            '',
          ].join('\n'),
        }),
      },
    ],
  },
  imageIsOrc: {
    schema: z
      .boolean()
      .default(false)
      .describe('Whether the image is an object of OpenStack Resource Controller, and not an image of OpenStack.'),
    patches: { partOf: 'imageName' },
  },
  imageAddVersion: {
    schema: z
      .boolean()
      .default(true)
      .describe('Whether the name of the image ends in the version of Kubernetes, such as -v1.34.3.'),
    patches: { partOf: 'imageName' },
  },
} as const satisfies VariableRows;

/** Variables of the access to OpenStack and to machines. */
export const accessVariables = {
  identityRef: {
    schema: z
      .object({
        name: z.string().min(1).default('openstack').describe('Name of the Secret.'),
        cloudName: z.string().min(1).default('openstack').describe('Name of the cloud in its clouds.yaml.'),
      })
      .prefault({})
      .describe(
        "Secret with the credentials for OpenStack, in the Cluster's namespace, and the cloud in its clouds.yaml: openstack and openstack.",
      ),
    patches: [
      {
        name: 'identityRef',
        target: 'infrastructureCluster',
        operations: inBoth({ op: 'add', path: '/identityRef', variable: 'identityRef' }),
      },
    ],
  },
  sshKeyName: {
    schema: z.string().default('').describe('SSH key of the machines in OpenStack.'),
    patches: [
      {
        name: 'sshKeyName',
        target: 'worker',
        enabledIf: whenSet('sshKeyName'),
        operations: inBoth({ op: 'add', path: '/sshKeyName', variable: 'sshKeyName' }),
      },
    ],
  },
  securityGroups: {
    schema: z.array(z.string()).default([]).describe('Additional security groups of all machines, by name.'),
    patches: [
      {
        name: 'securityGroups',
        target: 'worker',
        enabledIf: `{{ if or ${securityGroupLists.map(({ variable }) => `.${variable}`).join(' ')} }}true{{ end }}`,
        operations: inBoth({
          op: 'add',
          path: '/securityGroups',
          template: securityGroupLists
            .map(({ variable, entry }) => `{{ range .${variable} }}\n- ${entry}\n{{ end }}`)
            .join(''),
        }),
      },
    ],
  },
  securityGroupIDs: {
    schema: z.array(z.string()).default([]).describe('Additional security groups of all machines, by ID.'),
    patches: { partOf: 'securityGroups' },
  },
} as const satisfies VariableRows;
