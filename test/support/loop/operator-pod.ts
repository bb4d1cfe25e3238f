import { providerNamespace } from '../../../constructs/cluster/provider-names.ts';
import { connectionFor } from '../../../reconciler/kube/config.ts';
import { untilAnswering } from '../../../reconciler/operator/connected-operator.ts';
import { readConfig } from '../../../reconciler/operator/config.ts';
import { Operator } from '../../../reconciler/operator/operator.ts';
import { createLogger } from '../../../reconciler/engine/log.ts';
import { MemoryClient, type MemoryClientOptions } from '../memory-cluster/client.ts';
import { Life } from './life.ts';
import type { MemoryCluster } from './memory-cluster.ts';
import type { Network } from './network.ts';
import { reachOf } from './reach.ts';
import { operatorUser } from './shipped-rights.ts';

const silentLog = createLogger({ format: 'json', level: 'error' }, { write: () => {} });

export interface OperatorPodOptions {
  readonly leaderElection: boolean;
  /** By default that of the only pod. */
  readonly name?: string;
  /** Called after every write to the management cluster. */
  readonly onWrite?: (action: string) => void;
}

/** A pod of the operator: the whole program by the clock of a test, which the kubelet starts again whenever it ends. */
export class OperatorPod {
  /** How often the program was started. */
  starts = 0;
  readonly #cluster: MemoryCluster;
  readonly #network: Network;
  readonly #options: OperatorPodOptions;
  #life = new Life();
  #operator: Operator | undefined;

  constructor(cluster: MemoryCluster, network: Network, options: OperatorPodOptions) {
    this.#cluster = cluster;
    this.#network = network;
    this.#options = options;
  }

  /** Starts the program. Resolves when its caches are filled. */
  async start(): Promise<void> {
    this.starts += 1;
    this.#operator = undefined;
    const life = new Life();
    this.#life = life;
    const { clock, management } = this.#cluster;
    const { leaderElection, name = 'operator', onWrite } = this.#options;
    const how: MemoryClientOptions = {
      before: async (action) => {
        await life.whileAlive(action);
        await this.#network.send(action);
        // It may have died while the request was on its way.
        await life.whileAlive(action);
      },
      after: onWrite,
      receive: (events, signal) => this.#network.receive(events, signal),
      paths: { '/version': () => '{}' },
    };
    await untilAnswering(new MemoryClient(management, operatorUser(), how), clock, silentLog);
    const environment = { CONTROLLER_NAMESPACE: providerNamespace, LEADER_ELECTION: String(leaderElection) };
    const operator = new Operator({
      connection: connectionFor({ server: 'https://192.0.2.1', ca: '' }),
      config: readConfig([], environment),
      identity: name,
      clock,
      log: silentLog,
      open: (_, { onAnswer }) => {
        const onPermitted = () => onAnswer?.({ date: new Date(clock.elapsed()).toUTCString(), tookMs: 0 });
        return new MemoryClient(management, operatorUser(), { ...how, onPermitted });
      },
      reach: reachOf(this.#cluster, life),
      onLeadershipLost: () => this.restart(),
    });
    this.#operator = operator;
    await Promise.race([operator.start(), life.died]);
  }

  /** Ends the program as a crash does, and starts it again as the kubelet does. */
  restart(): void {
    this.#life.end();
    void this.start();
  }

  /** What its liveness probe says. */
  get whyDead(): string | undefined {
    return this.#operator?.whyDead;
  }

  get isReady(): boolean {
    return this.#operator?.isReady ?? false;
  }

  async stop(): Promise<void> {
    await this.#operator?.stop();
  }
}
