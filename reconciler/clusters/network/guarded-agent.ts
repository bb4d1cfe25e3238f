import { Agent } from 'node:http';
import { Agent as SecureAgent, type AgentOptions } from 'node:https';
import { buildConnector } from 'undici';
import type { Guard } from './destinations.ts';

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

/** The same for undici. */
export function guardedConnector(options: buildConnector.BuildOptions, guard: Guard): buildConnector.connector {
  return (to, callback) => {
    const port = Number(to.port) || (to.protocol === 'https:' ? 443 : 80);
    try {
      guard.admit(to.hostname, port);
    } catch (error) {
      return callback(error instanceof Error ? error : new Error(String(error)), null);
    }
    buildConnector({ ...options, lookup: guard.lookup(port) })(to, callback);
  };
}
