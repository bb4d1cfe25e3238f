import type { Resource } from '../../constructs/api/resources.ts';
import { foreignSpec, innerSpec } from '../support/stacks/foreign-spec.ts';
import {
  type ForeignKind,
  infrastructureKind,
  TestbedCluster,
  testbedKinds,
  TestbedMachine,
  TestbedMachinePool,
} from './kinds.ts';

/** A cloud for which machines of the testbed stand in: its kinds, and how it names machines. */
export interface Cloud {
  readonly cluster: Resource;
  readonly machine: Resource;
  readonly pool?: Resource;
  /** How Cluster API and Kubernetes name a machine. */
  readonly providerIdOf: (machine: string) => string;
  /** What cloud-init fills in for names in double braces. */
  readonly metadataOf: (machine: string) => Readonly<Record<string, string>>;
  readonly kinds: () => Promise<readonly ForeignKind[]>;
}

const clouds = {
  testbed: {
    cluster: TestbedCluster,
    machine: TestbedMachine,
    pool: TestbedMachinePool,
    providerIdOf: (machine) => `testbed:///${machine}`,
    metadataOf: () => ({}),
    kinds: async () => testbedKinds,
  },
  hetzner: {
    cluster: infrastructureKind('HetznerCluster'),
    machine: infrastructureKind('HCloudMachine'),
    providerIdOf: (machine) => `hcloud://${machine}`,
    metadataOf,
    kinds: async () => [
      { resource: infrastructureKind('HetznerCluster'), spec: await foreignSpec('HetznerCluster', 'v1beta1') },
      ...(await machineKinds('HCloudMachine')),
    ],
  },
  openstack: {
    cluster: infrastructureKind('OpenStackCluster'),
    machine: infrastructureKind('OpenStackMachine'),
    providerIdOf: (machine) => `openstack:///${machine}`,
    metadataOf,
    kinds: async () => [...(await machineKinds('OpenStackCluster')), ...(await machineKinds('OpenStackMachine'))],
  },
} satisfies Record<string, Cloud>;

export type CloudName = keyof typeof clouds;

/** @throws for a name without a cloud */
export function cloudNamed(name: string): Cloud {
  const found = Object.entries(clouds).find(([known]) => known === name)?.[1];
  if (!found) throw new Error(`no cloud ${name}: name one of ${Object.keys(clouds).join(', ')}`);
  return found;
}

function metadataOf(machine: string): Readonly<Record<string, string>> {
  return { local_hostname: machine, instance_id: machine };
}

/** A kind and its template, by the definition of the template that is kept. */
async function machineKinds(kind: string): Promise<ForeignKind[]> {
  const template = await foreignSpec(`${kind}Template`, 'v1beta1');
  return [
    { resource: infrastructureKind(`${kind}Template`), spec: template },
    { resource: infrastructureKind(kind), spec: innerSpec(template) },
  ];
}
