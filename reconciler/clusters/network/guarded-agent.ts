import { Agent } from 'node:http';
import { Agent as SecureAgent, type AgentOptions } from 'node:https';
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
