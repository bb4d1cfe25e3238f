import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { clusterctl } from '../testbed/clusterctl.ts';
import { binDirectory, type Instance, kubeconfigPath } from '../testbed/instance.ts';

/** What a person sees of a control plane and its Cluster, by the tools that people use. */
export class SeenByPeople {
  readonly #instance: Instance;
  readonly #namespace: string;
  readonly #cluster: string;

  /** @param cluster name of the Cluster, whose control plane is the HostedControlPlane `<cluster>-cp` */
  constructor(instance: Instance, namespace: string, cluster: string) {
    this.#instance = instance;
    this.#namespace = namespace;
    this.#cluster = cluster;
  }

  /** The lines of `kubectl get hcp --watch` while the work lasts, without repetitions. */
  async during(work: () => Promise<void>): Promise<string[]> {
    const args = ['--namespace', this.#namespace, 'get', 'hcp', `${this.#cluster}-cp`, '--watch'];
    const child = spawn(join(binDirectory(this.#instance), 'kubectl'), args, {
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const printed = text(child.stdout);
    try {
      await work();
      if (child.exitCode !== null) throw new Error(`kubectl ${args.join(' ')} ended with ${child.exitCode}`);
    } finally {
      child.kill();
    }
    return [...new Set((await printed).trimEnd().split('\n').map(withoutAge))];
  }

  /** What `clusterctl describe cluster` prints of the control plane at this moment. */
  async describe(): Promise<string> {
    const args = ['describe', 'cluster', this.#cluster, '--namespace', this.#namespace, '--show-conditions', 'all'];
    return clusterctl(this.#instance, args);
  }

  #environment(): NodeJS.ProcessEnv {
    return { ...process.env, KUBECONFIG: kubeconfigPath(this.#instance) };
  }
}

/** The age changes in every line, and says nothing about an upgrade. */
function withoutAge(line: string): string {
  return line.replace(/\s(?:\d+[dhms])+(?=\s|$)/, '');
}
