import { issueCertificate, type KeyPair, validFor } from '../../reconciler/pki/issue.ts';
import { certificatesOf } from './chain.ts';
import type { Random } from './random.ts';

/** A node: the CA certificates it trusts since it joined, and the certificates it presents. */
export interface Node {
  readonly name: string;
  readonly joinedAt: number;
  readonly leavesAt: number;
  /** PEM that `kubeadm join` found in cluster-info, in the kubelet's kubeconfig and as its client CA. */
  readonly trusted: string;
  readonly client: KeyPair;
  readonly issuedAt: number;
  readonly renewAt: number;
}

export interface NodesProps {
  readonly random: Random;
  readonly count: number;
  /** Longest time until a node is replaced, as upgrades do. */
  readonly longestLifeMs: number;
  /** The lifetime of kubelet certificates that the controller manager signs. */
  readonly signingMs: number;
}

/** What the cluster offers to nodes at one moment. */
export interface Offer {
  readonly now: Date;
  /** The CA certificates in cluster-info. */
  readonly trusted: string;
  /** The CA that the controller manager signs with; undefined while there is none. */
  readonly signer: KeyPair | undefined;
}

/** The nodes of a hosted cluster: they join, renew their certificates and are replaced. */
export class Nodes {
  readonly #props: NodesProps;
  #all: readonly Node[] = [];
  #made = 0;

  constructor(props: NodesProps) {
    this.#props = props;
  }

  get all(): readonly Node[] {
    return this.#all;
  }

  /** The time at which the next node has something to do. */
  get next(): number {
    return Math.min(...this.#all.map(({ leavesAt, renewAt }) => Math.min(leavesAt, renewAt)));
  }

  /** Replaces old nodes, and renews certificates that are due. Returns whether anything has changed. */
  async live(offer: Offer): Promise<boolean> {
    const { signer } = offer;
    if (!signer) return false;
    const before = this.#all;
    const now = offer.now.getTime();
    const kept = await Promise.all(
      this.#all
        .filter(({ leavesAt }) => now < leavesAt)
        .map(async (node) => (now < node.renewAt ? node : this.#renewed(node, offer.now, signer))),
    );
    const missing = Array.from({ length: this.#props.count - kept.length }, () => this.#join(offer, signer));
    this.#all = [...kept, ...(await Promise.all(missing))];
    return this.#all.some((node) => !before.includes(node));
  }

  async #join({ now, trusted }: Offer, signer: KeyPair): Promise<Node> {
    const { random, longestLifeMs } = this.#props;
    const leavesAt = now.getTime() + random.between(0.1, 1) * longestLifeMs;
    const name = `node-${this.#made++}`;
    const node = { name, joinedAt: now.getTime(), leavesAt, trusted, client: signer, issuedAt: 0, renewAt: 0 };
    return this.#renewed(node, now, signer);
  }

  /** A kubelet requests its next certificate after 70 to 90 % of the lifetime of the current one. */
  async #renewed(node: Node, now: Date, signer: KeyPair): Promise<Node> {
    const { random, signingMs } = this.#props;
    const subject = { commonName: `system:node:${node.name}`, organizations: ['system:nodes'], hosts: [] };
    const client = await issueCertificate({ ...subject, usages: ['client'] }, signer, validFor(signingMs, now));
    const end = certificatesOf(client.certificate)[0]?.validToDate.getTime() ?? 0;
    return {
      ...node,
      client,
      issuedAt: now.getTime(),
      renewAt: now.getTime() + random.between(0.7, 0.9) * (end - now.getTime()),
    };
  }
}
