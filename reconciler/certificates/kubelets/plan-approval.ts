import type { MachineObject } from '../../../imports/cluster-api.ts';
import type { CertificateSigningRequestObject, NodeAddress } from '../../../imports/kubernetes.ts';
import { firstMatch } from '../../engine/first-match.ts';
import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { canonicalHost } from '../../../constructs/cluster/canonical-host.ts';
import { groups, kubeletServingSigner } from '../../../constructs/cluster/workload-identities.ts';
import { itemsOf, textOf } from '../../../constructs/cluster/foreign-values.ts';
import { isPending, longestRequest } from '../../pki/certificate-signing-request.ts';
import { contentOf, type RequestContent } from '../../pki/request-content.ts';
import type { IsReserved } from './reserved-hosts.ts';

/** What a request is checked against. */
export interface Evidence {
  /** Addresses in the status of the requesting Node; undefined if the Node does not exist. */
  readonly nodeAddresses: readonly NodeAddress[] | undefined;
  /** All Machines of the Cluster. */
  readonly machines: readonly MachineObject[];
  readonly isReserved: IsReserved;
}

const userPrefix = 'system:node:';
/** A request with a key that cannot encipher, such as an elliptic curve key, does not contain `key encipherment`. */
const usages: readonly string[] = ['digital signature', 'key encipherment', 'server auth'];
const requiredUsages: readonly string[] = ['digital signature', 'server auth'];

/** Whether a request for a kubelet serving certificate is pending. */
export function awaitsServing(request: CertificateSigningRequestObject): boolean {
  return request.spec?.signerName === kubeletServingSigner && isPending(request);
}

/** The requesting Node, as the API server has authenticated it; undefined if the requester is not a kubelet. */
export function askingNode({ spec = {} }: CertificateSigningRequestObject): string | undefined {
  const { username = '' } = spec;
  const name = username.startsWith(userPrefix) ? username.slice(userPrefix.length) : '';
  return name !== '' && spec.groups?.includes(groups.nodes) ? name : undefined;
}

interface Question {
  readonly request: CertificateSigningRequestObject;
  readonly node: string;
  readonly content: RequestContent;
  readonly evidence: Evidence;
}

type Check = (question: Question) => string | undefined;

/**
 * Why a request is not approved, as the end of a sentence that begins with the request; undefined if it contains only
 * names and addresses of the requester.
 */
export function objection(request: CertificateSigningRequestObject, evidence: Evidence): string | undefined {
  const node = askingNode(request);
  if (node === undefined)
    return `was created by ${request.spec?.username ?? 'an unknown user'}, which is not a kubelet`;
  const content = contentOf(request);
  if (!content && request.spec?.request === '') return `is longer than ${longestRequest / 1024} KiB`;
  if (!content) return 'cannot be read, or contains more than one list of names';
  return firstMatch(checks, { request, node, content, evidence });
}

const checks: readonly Check[] = [
  function asksForItself({ node, content: { subject } }) {
    const wanted = [`CN=${userPrefix}${node}`, `O=${groups.nodes}`];
    return isDeepStrictEqual(subject, wanted)
      ? undefined
      : `requests subject ${subject.join(', ')} instead of ${wanted.join(', ')}`;
  },
  function asksToServe({ request: { spec } }) {
    const asked = spec?.usages ?? [];
    const isRight =
      asked.every((usage) => usages.includes(usage)) && requiredUsages.every((usage) => asked.includes(usage));
    return isRight ? undefined : `requests usages ${asked.join(', ') || 'none'} instead of ${usages.join(', ')}`;
  },
  function namesHostsOnly({ content: { hosts, otherNames } }) {
    if (otherNames.length > 0) return `requests names of type ${otherNames.join(', ')}`;
    return hosts.length === 0 ? 'contains no host name or address' : undefined;
  },
  function namesNothingOfTheControlPlane({ content: { hosts }, evidence: { isReserved } }) {
    const found = hosts.filter(({ host }) => isReserved(host));
    return found.length > 0 ? `contains ${listed(found)}, which no node can have` : undefined;
  },
  function namesItsNodeOnly({ node, content: { hosts }, evidence: { nodeAddresses } }) {
    if (!nodeAddresses) return `was created by Node ${node}, which does not exist`;
    const own = hostsOf(nodeAddresses);
    const foreign = hosts.filter(({ host }) => !own.has(host));
    return foreign.length > 0 ? `contains ${listed(foreign)}, which Node ${node} does not have` : undefined;
  },
  function namesItsMachineOnly({ node, content: { hosts }, evidence: { machines } }) {
    const machine = machines.find(({ status }) => status?.nodeRef?.name === node);
    const own = hostsOf(machine?.status?.addresses ?? []);
    if (!machine || own.size === 0) return undefined;
    // Infrastructure providers often list the addresses of one IP family only, of a node that has both.
    const families = new Set([...own].map(isIP));
    const isListed = (host: string) => isIP(host) === 0 || families.has(isIP(host));
    // The node name comes from Cluster API, and infrastructure providers do not repeat it.
    const foreign = hosts.filter(({ host }) => !own.has(host) && isListed(host) && host !== canonicalHost(node));
    return foreign.length > 0
      ? `contains ${listed(foreign)}, which Machine ${machine.metadata.name} does not have`
      : undefined;
  },
  // Before Cluster API has set the Machine of this Node, the check at least excludes addresses of other Nodes'
  // Machines.
  function namesNoOtherMachine({ node, content: { hosts }, evidence: { machines } }) {
    for (const { metadata, status } of machines) {
      const owner = status?.nodeRef?.name;
      if (owner === undefined || owner === node) continue;
      const theirs = hostsOf(status?.addresses ?? []);
      const taken = hosts.filter(({ host }) => theirs.has(host));
      if (taken.length > 0) return `contains ${listed(taken)}, which Machine ${metadata.name} has`;
    }
    return undefined;
  },
];

function hostsOf(addresses: readonly NodeAddress[]): Set<string> {
  return new Set(itemsOf(addresses).map(({ address }) => canonicalHost(textOf(address) ?? '')));
}

function listed(hosts: RequestContent['hosts']): string {
  return hosts.map(({ host }) => host).join(', ');
}
