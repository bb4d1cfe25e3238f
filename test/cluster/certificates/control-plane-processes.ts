import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Program } from '../../../constructs/control-plane/certificates/certificate-consumers.ts';
import { findBinaries, findFurtherBinaries } from '../../tools/testbed/binaries.ts';
import { familiesOf, ownMinor, pinnedMinors, pinnedVersion } from '../../tools/testbed/families.ts';
import { instanceFrom } from '../../tools/testbed/instance.ts';
import { unpackedPackage } from '../../tools/testbed/unpacked-package.ts';
import { ChildProgram } from '../../support/child-program.ts';
import { freePort } from '../../support/free-port.ts';
import { Rendered } from '../../support/rendered-cluster.ts';
import { type Content, LaidOutContainer } from './laid-out-pod.ts';

/** A program of a control plane's pods; `spare etcd` is one without clients. */
export type ProcessName = Exclude<Program, 'this provider' | 'Cluster API'> | 'spare etcd';

const tunnelEndpoint = { host: 'tunnel.c1.team.example.org', port: 443 };
const address = '127.0.0.1';

/** A small rendered control plane of a version with every program. */
function renderedFor(version: string): Rendered {
  return new Rendered(
    {
      spec: {
        version,
        etcd: { replicas: 1 },
        exposure: { gateway: { namespace: 'ingress', name: 'shared' } },
        inClusterAccess: 'Proxy',
      },
    },
    { tunnelEndpoint, advertiseAddress: undefined, encryptionAtRest: undefined },
  );
}

const homes: Readonly<Record<ProcessName, readonly [workload: string, container: string, binary: string]>> = {
  etcd: ['c1-etcd', 'etcd', 'etcd'],
  'spare etcd': ['c1-etcd', 'etcd', 'etcd'],
  'kube-apiserver': ['c1-api-server', 'kube-apiserver', 'kube-apiserver'],
  'konnectivity-server': ['c1-api-server', 'konnectivity-server', 'konnectivity-server'],
  tunnel: ['c1-api-server', 'tunnel', 'sh'],
  'kube-controller-manager': ['c1-controller-manager', 'kube-controller-manager', 'kube-controller-manager'],
  'kube-scheduler': ['c1-scheduler', 'kube-scheduler', 'kube-scheduler'],
};

/** A port of each listening program. */
export type Ports = Readonly<
  Record<
    | 'api'
    | 'etcd'
    | 'etcdHTTP'
    | 'peer'
    | 'spareEtcd'
    | 'spareEtcdHTTP'
    | 'sparePeer'
    | 'agents'
    | 'tunnel'
    | 'controllerManager'
    | 'scheduler',
    number
  >
>;

/**
 * The programs of a control plane as processes on this machine, with the arguments and files of their pods, to show how
 * each of them handles a changed file.
 */
export class ControlPlaneProcesses {
  readonly ports: Ports;
  /** The version of Kubernetes. */
  readonly version: string;
  readonly #rendered: Rendered;
  readonly #directory: string;
  readonly #binaries: Readonly<Record<string, string>>;
  readonly #haproxy: string;
  readonly #layouts = new Map<ProcessName, LaidOutContainer>();
  readonly #children = new Map<ProcessName, ChildProgram>();
  readonly #further: readonly number[];

  private constructor(
    version: string,
    directory: string,
    ports: Ports,
    further: readonly number[],
    binaries: Readonly<Record<string, string>>,
    haproxy: string,
  ) {
    this.version = version;
    this.#rendered = renderedFor(version);
    this.#directory = directory;
    this.ports = ports;
    this.#further = further;
    this.#binaries = binaries;
    this.#haproxy = haproxy;
  }

  /**
   * Finds the binaries; starts nothing.
   * @param minor such as `1.34`; the newest one by default
   */
  static async prepare(minor?: string): Promise<ControlPlaneProcesses> {
    const { cache } = instanceFrom(process.env);
    const folders = minor === undefined ? ownMinor : pinnedMinors[minor];
    if (!folders) throw new Error(`Kubernetes ${minor} is not pinned`);
    const version = await pinnedVersion(folders.kubernetes, 'k8s.io/kubernetes');
    const binaries = {
      ...(await findBinaries(cache, process.env['HCP_TESTBED_BIN'], () => {})),
      ...(await findFurtherBinaries(familiesOf(folders), cache, () => {})),
    };
    const haproxy = await unpackedPackage('haproxy', join(cache, 'packages'), () => {});
    const ports = {
      api: await freePort(),
      etcd: await freePort(),
      etcdHTTP: await freePort(),
      peer: await freePort(),
      spareEtcd: await freePort(),
      spareEtcdHTTP: await freePort(),
      sparePeer: await freePort(),
      agents: await freePort(),
      tunnel: await freePort(),
      controllerManager: await freePort(),
      scheduler: await freePort(),
    };
    const further = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()];
    return new ControlPlaneProcesses(version, await mkdtemp(join(tmpdir(), 'cp-')), ports, further, binaries, haproxy);
  }

  /** Writes the Secrets that a program's pod mounts; running programs may or may not reload them. */
  async write(name: ProcessName, secrets: ReadonlyMap<string, Content>): Promise<void> {
    await this.#layout(name).write(secrets);
  }

  /** @param flags that override the rendered ones, as a user's arguments would */
  start(name: ProcessName, flags: Readonly<Record<string, string>> = {}): void {
    const [, , binary] = homes[name];
    const log = join(this.#directory, `${name}.log`);
    const library = join(this.#haproxy, 'usr/lib/x86_64-linux-gnu');
    const env = {
      ...process.env,
      PATH: [join(this.#haproxy, 'usr/sbin'), process.env['PATH']].join(delimiter),
      POD_IP: address,
      ...(name === 'tunnel' && { LD_LIBRARY_PATH: library }),
    };
    const path = binary === 'sh' ? '/bin/sh' : this.#binaries[binary];
    if (!path) throw new Error(`the testbed has no binary ${binary}`);
    this.#children.set(name, new ChildProgram(path, this.#args(name, flags), { log, env }));
  }

  isRunning(name: ProcessName): boolean {
    return this.#children.get(name)?.isRunning ?? false;
  }

  async kill(name: ProcessName): Promise<void> {
    await this.#children.get(name)?.end();
  }

  /** Kills all processes and removes their files. */
  async stop(): Promise<void> {
    for (const name of this.#children.keys()) await this.kill(name);
    await rm(this.#directory, { recursive: true, force: true });
  }

  #layout(name: ProcessName): LaidOutContainer {
    const known = this.#layouts.get(name);
    if (known) return known;
    const [workload, container] = homes[name];
    const { pod } = this.#rendered.workload(workload);
    const root = join(this.#directory, name.replace(' ', '-'));
    const layout = new LaidOutContainer(root, pod, container, this.#rendered.objects, this.#replacements(name));
    this.#layouts.set(name, layout);
    return layout;
  }

  #replacements(name: ProcessName): Readonly<Record<string, string>> {
    const { ports } = this;
    const [metrics = 0, spareMetrics = 0, tunnelHealth = 0] = this.#further;
    const isSpare = name === 'spare etcd';
    const at = (port: number) => `https://${address}:${port}`;
    const client = at(isSpare ? ports.spareEtcd : ports.etcd);
    const peer = at(isSpare ? ports.sparePeer : ports.peer);
    return {
      'https://s-c1.team.svc:6443': at(ports.api),
      'https://localhost:6443': at(ports.api),
      'https://c1-etcd-0.e-c1-etcd.team.svc:2379': client,
      'https://0.0.0.0:2379': client,
      'https://c1-etcd-0.e-c1-etcd.team.svc:2380': peer,
      'https://0.0.0.0:2380': peer,
      'https://0.0.0.0:2382': at(isSpare ? ports.spareEtcdHTTP : ports.etcdHTTP),
      'http://0.0.0.0:2381': `http://${address}:${isSpare ? spareMetrics : metrics}`,
      '$(POD_NAME)': 'c1-etcd-0',
      ':6444"': `:${ports.tunnel}"`,
      ':6445"': `:${tunnelHealth}"`,
    };
  }

  #args(name: ProcessName, flags: Readonly<Record<string, string>>): string[] {
    const layout = this.#layout(name);
    const template = [...(layout.container.command ?? []).slice(1), ...(layout.container.args ?? [])];
    const args = template.map((arg) => layout.localized(arg));
    const changed = this.#otherFlags(name);
    const replaced = new Set([...Object.keys(changed), ...Object.keys(flags)]);
    const isOurs = (arg: string) => !replaced.has(arg.slice(2).split('=')[0] ?? '');
    const given = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
    const others = Object.entries(changed).flatMap(([flag, value]) => (value === '' ? [] : [`--${flag}=${value}`]));
    return [...args.filter(isOurs), ...others, ...given];
  }

  /** Flags that only work in a pod; an empty value omits the flag. */
  #otherFlags(name: ProcessName): Readonly<Record<string, string>> {
    const { ports } = this;
    const [, , , konnectivityAdmin, konnectivityHealth] = this.#further;
    const secure = (port: number) => ({ 'bind-address': address, 'secure-port': String(port) });
    switch (name) {
      case 'kube-apiserver':
        return {
          ...secure(ports.api),
          'advertise-address': address,
          'egress-selector-config-file': '',
          'etcd-servers': `https://${address}:${ports.etcd}`,
          // No controller creates default ServiceAccounts as fast as a test creates Pods.
          'disable-admission-plugins': 'ServiceAccount',
        };
      // Programs exit when they lose the lease, which happens when trust is lost for a moment.
      case 'kube-controller-manager':
        return { ...secure(ports.controllerManager), 'leader-elect': 'false' };
      case 'kube-scheduler':
        return { ...secure(ports.scheduler), 'leader-elect': 'false' };
      case 'konnectivity-server':
        return {
          'agent-port': String(ports.agents),
          'admin-port': String(konnectivityAdmin),
          'health-port': String(konnectivityHealth),
        };
      case 'etcd':
      case 'spare etcd':
      case 'tunnel':
        return {};
    }
  }
}
