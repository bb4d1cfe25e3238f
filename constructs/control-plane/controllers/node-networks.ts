import type { HostedCluster } from '../../cluster/cluster.ts';
import { rendersWith } from '../../cluster/release-revisions.ts';
import type { Flag } from '../../pod/flags.ts';

/** The argument by which the controller manager gives networks to nodes. */
export const allocatesNodeNetworks = 'allocate-node-cidrs';

const allocates: Flag = [
  allocatesNodeNetworks,
  'true',
  'CNIs that read the pod network of a node from the Node object',
];

/** Bits of the network of a node by default, by IP family. */
const defaultBits = { ipv4: 24, ipv6: 64 } as const;

/** The controller manager counts at most 2^16 networks of nodes. */
const mostNetworkBits = 16;

/**
 * Whether nodes get networks from the controller manager, and of which size. It exits if the network of pods is smaller than that of a
 * node, or has room for more than 65,536 nodes.
 */
export function nodeNetworkFlags(cluster: HostedCluster): Flag[] {
  if (!rendersWith(cluster, 'sizesNodeNetworks')) return [allocates];
  const { args = {} } = cluster.spec.deployment.controllerManager;
  const isAsked = Object.keys(args).some((name) => name.startsWith('node-cidr-mask-size'));
  const { pods } = cluster.network;
  const flags = isAsked ? [] : pods.flatMap((network): Flag[] => sizeFlag(network, pods.length > 1));
  return [...(args[allocatesNodeNetworks] === undefined ? [allocates] : []), ...flags];
}

function sizeFlag(network: string, isDual: boolean): Flag[] {
  const family = network.includes(':') ? 'ipv6' : 'ipv4';
  const bits = Number(network.split('/')[1]);
  if (fits(bits, defaultBits[family])) return [];
  const size = family === 'ipv4' ? ipv4Bits(bits) : ipv6Bits(bits);
  const name = isDual ? `node-cidr-mask-size-${family}` : 'node-cidr-mask-size';
  return [
    [
      name,
      String(size),
      `by default a node would get a /${defaultBits[family]}, of which ${network} has none or too many`,
    ],
  ];
}

const fits = (bits: number, node: number) => bits <= node && node - bits <= mostNetworkBits;

/** Networks of eight nodes, or of as many as can be counted. */
function ipv4Bits(bits: number): number {
  return bits > defaultBits.ipv4 ? Math.min(bits + 3, 32) : bits + mostNetworkBits;
}

/** As kubeadm has it: a multiple of eight with 512 to 65,536 nodes, and 256 nodes of a /112. */
function ipv6Bits(bits: number): number {
  if (bits === 112) return 120;
  return bits < 112 ? 128 - (Math.floor((128 - bits - 1) / 8) - 1) * 8 : bits;
}
