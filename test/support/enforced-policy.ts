/**
 * A party in or around a management cluster that opens or accepts connections, with one address of each family. `own node`
 * is the node that runs the pod at the other end: its kubelet probes from there.
 */
export type Party = { readonly addresses: Readonly<Record<Family, string>> } & (
  | { readonly kind: 'pod'; readonly namespace: string; readonly labels: Readonly<Record<string, string>> }
  | { readonly kind: 'own node' }
  | { readonly kind: 'other node' }
  | { readonly kind: 'host outside' }
);
export type PodParty = Extract<Party, { kind: 'pod' }>;

export type Family = 'ipv4' | 'ipv6';
export type Direction = 'ingress' | 'egress';
export type Protocol = 'TCP' | 'UDP' | 'SCTP';

/** A connection without its ends; the port is that of the listening end. */
export interface Attempt {
  readonly family: Family;
  readonly port: number;
  readonly protocol: Protocol;
}

/** One policy as a network plugin enforces it. */
export interface EnforcedPolicy {
  selects(pod: PodParty): boolean;
  /** Whether connections in this direction that the policy does not allow are denied. */
  restricts(direction: Direction): boolean;
  allows(direction: Direction, peer: Party, attempt: Attempt): boolean;
}
