import { isDeepStrictEqual } from 'node:util';
import { canonicalHost } from '../../constructs/cluster/canonical-host.ts';
import { groups, kubeletServingSigner } from '../../constructs/cluster/workload-identities.ts';
import { type CertificateRequest, isPending } from '../hosted/certificate-request.ts';
import type { NodeAddress } from '../hosted/node-object.ts';
import type { KubeObject } from '../kube/object.ts';
import { readRequest, type RequestContent } from './request-content.ts';
import type { IsReserved } from './reserved-hosts.ts';

/** A Machine as far as it tells which Node it has become, and where that is. */
export interface MachineObject extends KubeObject {
  readonly status?: {
    readonly nodeRef?: { readonly name?: string };
    readonly addresses?: readonly NodeAddress[];
  };
}

/** What a request is judged by. */
export interface Evidence {
  /** What the Node of the asker says of its addresses; undefined when there is no such Node. */
  readonly nodeAddresses: readonly NodeAddress[] | undefined;
  /** All Machines of the Cluster. */
  readonly machines: readonly MachineObject[];
  readonly isReserved: IsReserved;
}

const userPrefix = 'system:node:';
/** A key that cannot encipher, such as an elliptic one, does not ask for it. */
const usages: readonly string[] = ['digital signature', 'key encipherment', 'server auth'];
const requiredUsages: readonly string[] = ['digital signature', 'server auth'];

/** Whether somebody waits for a certificate that kubelets serve with. */
export function awaitsServing(request: CertificateRequest): boolean {
  return request.spec.signerName === kubeletServingSigner && isPending(request);
}

/** The Node that asks, by what the API server has seen of it; undefined when no kubelet does. */
export function askingNode({ spec }: CertificateRequest): string | undefined {
  const { username = '', groups: member = [] } = spec;
  const name = username.startsWith(userPrefix) ? username.slice(userPrefix.length) : '';
  return name !== '' && member.includes(groups.nodes) ? name : undefined;
}

interface Question {
  readonly request: CertificateRequest;
  readonly node: string;
  readonly content: RequestContent;
  readonly evidence: Evidence;
}

type Check = (question: Question) => string | undefined;

/**
 * Why a request is not approved, as the end of a sentence that begins with it; undefined when it asks for nothing but
 * the asker's own names and addresses.
 */
export function objection(request: CertificateRequest, evidence: Evidence): string | undefined {
  const node = askingNode(request);
  if (node === undefined) return `was made by ${request.spec.username ?? 'nobody'}, who is no kubelet`;
  const content = readRequest(request.spec.request);
  if (!content) return 'cannot be read, or holds more than one list of names';
  for (const check of checks) {
    const found = check({ request, node, content, evidence });
    if (found) return found;
  }
  return undefined;
}

const checks: readonly Check[] = [
  function asksForItself({ node, content: { subject } }) {
    const wanted = [`CN=${userPrefix}${node}`, `O=${groups.nodes}`];
    return isDeepStrictEqual(subject, wanted)
      ? undefined
      : `asks for ${subject.join(', ')} instead of ${wanted.join(', ')}`;
  },
  function asksToServe({ request: { spec } }) {
    const asked = spec.usages ?? [];
    const isRight =
      asked.every((usage) => usages.includes(usage)) && requiredUsages.every((usage) => asked.includes(usage));
    return isRight ? undefined : `asks for usages ${asked.join(', ') || 'none'} instead of ${usages.join(', ')}`;
  },
  function namesHostsOnly({ content: { hosts, otherNames } }) {
    if (otherNames.length > 0) return `asks for names of kind ${otherNames.join(', ')}`;
    return hosts.length === 0 ? 'names no host' : undefined;
  },
  function namesNothingOfTheControlPlane({ content: { hosts }, evidence: { isReserved } }) {
    const found = hosts.filter(({ host }) => isReserved(host));
    return found.length > 0 ? `names ${listed(found)}, which no node can have` : undefined;
  },
  function namesItsNodeOnly({ node, content: { hosts }, evidence: { nodeAddresses } }) {
    if (!nodeAddresses) return `comes from Node ${node}, which does not exist`;
    const own = hostsOf(nodeAddresses);
    const foreign = hosts.filter(({ host }) => !own.has(host));
    return foreign.length > 0 ? `names ${listed(foreign)}, which Node ${node} does not have` : undefined;
  },
  function namesItsMachineOnly({ node, content: { hosts }, evidence: { machines } }) {
    const machine = machines.find(({ status }) => status?.nodeRef?.name === node);
    const own = hostsOf(machine?.status?.addresses ?? []);
    if (!machine || own.size === 0) return undefined;
    // Its name it has from Cluster API, and infrastructure providers do not repeat it.
    const foreign = hosts.filter(({ host }) => !own.has(host) && host !== canonicalHost(node));
    return foreign.length > 0
      ? `names ${listed(foreign)}, which Machine ${machine.metadata.name} does not have`
      : undefined;
  },
  // Before Cluster API has told whose Machine is whose, at least nobody gets the addresses of another Node's.
  function namesNoOtherMachine({ node, content: { hosts }, evidence: { machines } }) {
    for (const { metadata, status } of machines) {
      const owner = status?.nodeRef?.name;
      if (owner === undefined || owner === node) continue;
      const theirs = hostsOf(status?.addresses ?? []);
      const taken = hosts.filter(({ host }) => theirs.has(host));
      if (taken.length > 0) return `names ${listed(taken)}, which Machine ${metadata.name} has`;
    }
    return undefined;
  },
];

function hostsOf(addresses: readonly NodeAddress[]): Set<string> {
  return new Set(addresses.map(({ address }) => canonicalHost(address)));
}

function listed(hosts: RequestContent['hosts']): string {
  return hosts.map(({ host }) => host).join(', ');
}
