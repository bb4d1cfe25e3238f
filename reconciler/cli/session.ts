import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../kube/client.ts';
import { connect, loadKubeConfig } from '../kube/config.ts';
import type { Session } from './command.ts';
import type { Target } from './command-line.ts';
import { processTerminal } from './terminal.ts';

/** Runs a command with the management cluster that its options name. */
export async function runIn(target: Target, run: (session: Session) => Promise<void>): Promise<void> {
  const config = kubeConfigOf(target);
  const client = new KubeClient(await connect(config));
  const { connection } = client;
  const session: Session = {
    client,
    namespace: target.namespace ?? connection.namespace ?? 'default',
    terminal: processTerminal,
    now: () => Date.now(),
    pause: sleep,
    timeoutMs: target.timeoutMs,
    forward: async (port) => (await import('./port-forward.ts')).forwardPort(config, port),
  };
  try {
    await run(session);
  } finally {
    await connection.close();
  }
}

function kubeConfigOf({ kubeconfig, context }: Target) {
  const config = loadKubeConfig(kubeconfig);
  if (context === undefined) return config;
  if (!config.getContextObject(context)) {
    const known = config.getContexts().map(({ name }) => name);
    throw new Error(`the kubeconfig has no context "${context}": choose one of ${known.join(', ') || 'none'}`);
  }
  config.setCurrentContext(context);
  return config;
}
