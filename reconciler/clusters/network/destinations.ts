import { lookup as resolve } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isWithin } from '../../../constructs/cluster/cidr.ts';
import type { ServerAddress } from './cluster-networks.ts';
import { Agent } from 'node:http';
import { Agent as SecureAgent, type AgentOptions } from 'node:https';

/** No server of a tenant has such an address: the node itself, link-local ones, metadata services, several hosts at once. */
const never: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '::/128',
  '::1/128',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128',
];

/** What a tenant names, and what the operator does there. */
type Purpose =
  /** It sends requests, of which the tenant chooses much. */
  | 'store'
  /** It verifies which server presents itself, and sends nothing that the tenant chooses. */
  | 'endpoint';

export interface DestinationsOptions {
  /** Networks that the platform has denied. */
  readonly denied: readonly string[];
  /** These, and the ones of the management cluster's nodes, pods, Services and API servers. */
  readonly inside: () => readonly string[];
  /** Addresses of the management API servers, at which they have a port of their own. */
  readonly apiServers: () => readonly ServerAddress[];
  /** Networks, and names of hosts, to which it may connect nevertheless. @default none, and what is inside but not denied is allowed */
  readonly allowed: readonly string[];
  /** @default that of the machine */
  readonly lookup?: LookupFunction | undefined;
}

/** The same at one moment, as another thread gets it. */
export interface DestinationFacts extends Omit<DestinationsOptions, 'inside' | 'apiServers' | 'lookup'> {
  readonly inside: readonly string[];
  readonly apiServers: readonly ServerAddress[];
}

/** The operator may not connect there, or may not report what happened there. */
export class InsideError extends Error {
  override readonly name = 'InsideError';
  readonly code = 'EINSIDE';

  constructor() {
    super(insideSentence);
  }
}

/** The same whether it may not connect, nothing listens, or another server answers: or a tenant could look around with it. */
export const insideSentence =
  'the host leads inside the networks of the platform, or nowhere in them, and the operator reports nothing of servers there: correct it, or let the platform add it to ALLOWED_DESTINATIONS of the operator';

/**
 * Where the operator itself may connect to when a tenant names the host. It is decided on the address at the moment of each connection,
 * so that a name cannot lead elsewhere later.
 */
export class Destinations {
  readonly #options: DestinationsOptions;

  constructor(options: DestinationsOptions) {
    this.#options = options;
  }

  /** What it decides by now. */
  get facts(): DestinationFacts {
    const { denied, allowed, inside, apiServers } = this.#options;
    return { denied, allowed, inside: inside(), apiServers: apiServers() };
  }

  static of({ inside, apiServers, ...facts }: DestinationFacts): Destinations {
    return new Destinations({ ...facts, inside: () => inside, apiServers: () => apiServers });
  }

  /** For the connections of one client. */
  guard(purpose: Purpose): Guard {
    return new Guard(this, purpose, this.#options.lookup ?? resolve);
  }

  /** Whether the platform has listed it. */
  isListed(host: string, address: string): boolean {
    return this.#options.allowed.some((one) =>
      one.includes('/') ? isWithin(address, one) : one.toLowerCase() === host.toLowerCase().replace(/\.$/, ''),
    );
  }

  isInside(address: string): boolean {
    return isIn(address, [...never, ...this.#options.denied, ...this.#options.inside()]);
  }

  mayConnect(purpose: Purpose, address: string, port: number): boolean {
    const { denied, allowed, apiServers } = this.#options;
    if (isIn(address, never)) return false;
    if (apiServers().some((one) => one.address === address && (one.port ?? port) === port)) return false;
    if (purpose === 'endpoint') return true;
    return !isIn(address, denied) && (allowed.length === 0 || !this.isInside(address));
  }
}

/** Decides for the connections of one client, and notes whether one of them leads inside. */
export class Guard {
  readonly #destinations: Destinations;
  readonly #purpose: Purpose;
  readonly #resolve: LookupFunction;
  #isSecretive = false;

  constructor(destinations: Destinations, purpose: Purpose, lookup: LookupFunction) {
    this.#destinations = destinations;
    this.#purpose = purpose;
    this.#resolve = lookup;
  }

  /** Whether a report may not show how its connections failed. */
  get isSecretive(): boolean {
    return this.#isSecretive;
  }

  /** The error to report instead of one of its connections. */
  reportable(error: unknown): unknown {
    return this.#isSecretive ? new InsideError() : error;
  }

  /** Decides on a host that is an address, which no lookup resolves. @throws InsideError */
  admit(host: string, port: number): void {
    const address = host.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !this.#admits(address, address, port)) throw new InsideError();
  }

  /** Decides on a URL that a proxy of the platform reaches. The proxy decides on names. @throws InsideError */
  admitBehindProxy({ protocol, hostname, port }: URL): void {
    this.admit(hostname, Number(port) || (protocol === 'https:' ? 443 : 80));
  }

  /** Resolves to the addresses of a name at which the operator may connect to this port. */
  lookup(port: number): LookupFunction {
    return (host, options, callback) => {
      this.#resolve(host, { ...options, all: true }, (error, found, family) => {
        // Nor may a report show which names a cluster has.
        this.#isSecretive ||= error !== null && /\.svc(\.|$)/i.test(host);
        if (error) return callback(error, []);
        const all = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
        const admitted = all.filter(({ address }) => this.#admits(host, address, port));
        const [first] = admitted;
        if (!first) return callback(new InsideError(), []);
        if (options.all) callback(null, admitted);
        else callback(null, first.address, first.family);
      });
    };
  }

  #admits(host: string, address: string, port: number): boolean {
    const seen = embedded(address);
    if (this.#destinations.isListed(host, seen)) return true;
    this.#isSecretive ||= this.#destinations.isInside(seen);
    return this.#destinations.mayConnect(this.#purpose, seen, port);
  }
}

/** The IPv4 address in one of IPv6 that leads there: mapped ones, and those of NAT64. */
function embedded(address: string): string {
  if (isIP(address) !== 6) return address;
  const text = new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1);
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(text) ?? [];
  if (high === undefined || low === undefined) return text;
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

function isIn(address: string, networks: readonly string[]): boolean {
  return networks.some((network) => isWithin(address, network));
}

/** Agents for both kinds of URLs whose every connection the guard decides on. */
export function guardedAgents(
  options: AgentOptions,
  guard: Guard | undefined,
): { readonly http: Agent; readonly https: SecureAgent } {
  const agents = { http: new Agent({ keepAlive: true }), https: new SecureAgent(options) };
  if (guard) for (const agent of Object.values(agents)) decideOnEach(agent, guard);
  return agents;
}

/** Agents that connect to a proxy of the platform, which resolves the names and decides on them. */
export function proxiedAgents(
  options: AgentOptions,
  proxy: string,
): { readonly http: Agent; readonly https: SecureAgent } {
  const proxied = { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
  return { http: new Agent({ keepAlive: true, ...proxied }), https: new SecureAgent({ ...options, ...proxied }) };
}

function decideOnEach(agent: Agent, guard: Guard): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const { host, port } = options as { readonly host?: string | null; readonly port?: number | string | null };
    guard.admit(host ?? '', Number(port));
    return connect({ ...options, lookup: guard.lookup(Number(port)) }, callback);
  };
}
