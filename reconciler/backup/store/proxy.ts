import { isIP } from 'node:net';
import { isNetwork, isWithin, networkOfAddress } from '../../../constructs/cluster/cidr.ts';

/** Variables of a process, of which these name its proxies. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy through which a URL is reached by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in capitals or not, as programs written in Go read
 * them, such as all others in a management cluster; undefined for none. Node's own agents read `NO_PROXY` otherwise, without networks.
 */
export function proxyOf(url: string, environment: ProxyEnvironment): string | undefined {
  const variable = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const { protocol, hostname, port } = new URL(url);
  const proxy = variable(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '') return undefined;
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const entries = variable('NO_PROXY').split(/[\s,]+/);
  const isDirect =
    isLoopback(host) || entries.some((entry) => isException(entry.toLowerCase(), host, port || defaultPorts[protocol]));
  if (isDirect) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' };

/** @param entry `*`, an address, a network, or a domain with or without what is below it; each but a network may have a port */
function isException(entry: string, host: string, port: string | undefined): boolean {
  if (entry === '*') return true;
  if (isNetwork(entry)) return isIP(host) !== 0 && isWithin(host, entry);
  const { name, only } = isIP(entry) === 6 ? { name: entry, only: undefined } : hostAndPort(entry);
  if (name === '' || (only !== undefined && only !== port)) return false;
  if (isIP(name) !== 0) return isIP(host) !== 0 && isWithin(host, networkOfAddress(name));
  const domain = name.replace(/^\*?\./, '');
  return host.endsWith(`.${domain}`) || (host === domain && domain === name);
}

function hostAndPort(entry: string): { readonly name: string; readonly only: string | undefined } {
  const colon = entry.lastIndexOf(':');
  const only = /^\d{1,5}$/.test(entry.slice(colon + 1)) && colon > 0 ? entry.slice(colon + 1) : undefined;
  const host = only === undefined ? entry : entry.slice(0, colon);
  return { name: host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host, only };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) !== 0 && ['127.0.0.0/8', '::1/128'].some((own) => isWithin(host, own)));
}
