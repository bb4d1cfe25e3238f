import type { SecretObject } from '../../../imports/kubernetes.ts';
import { DaemonSet, Deployment, type Resource, Secret, StatefulSet } from '../../../constructs/api/resources.ts';
import { namesOf } from '../../../constructs/cluster/names.ts';
import { ports } from '../../../constructs/cluster/ports.ts';
import { minors } from '../../../constructs/cluster/minors.ts';
import { etcdVersionIn, minorOf, parseVersion, tagOf } from '../../../constructs/cluster/versions.ts';
import { apiServiceHost } from '../../../constructs/control-plane/certificates/certificate-plans.ts';
import type { KubeClient } from '../../../reconciler/kube/client.ts';
import type { KubeObject } from '../../../reconciler/kube/object.ts';
import { hasEnded } from '../../../reconciler/kube/readiness.ts';
import { valueOf } from '../../../reconciler/pki/secret.ts';
import { ContinuousUser } from '../../support/continuous-user.ts';
import { hostedClient } from '../../support/hosted-client.ts';
import type { Workbench } from '../../support/workbench.ts';

interface Templated extends KubeObject {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly { image?: string; args?: readonly string[] }[] };
    };
  };
}

/** What an API server says of itself. */
interface VersionAnswer {
  readonly gitVersion: string;
  readonly emulationMinor?: string;
}

/**
 * The version of Kubernetes that each part of a control plane has reached, in the order in which an upgrade changes them: the
 * minor times 1000, and the patch release. etcd belongs to a minor. A version that binaries emulate counts as the
 * reported one of its minor.
 */
interface Stages {
  readonly servedByOldest: number;
  readonly reported: number;
  /** The newer and the older one of controller manager and scheduler, which change one after the other. */
  readonly controllers: { readonly newest: number; readonly oldest: number };
  readonly addOns: Range;
  readonly etcd: number;
}

/** From the first to the last version of Kubernetes that the add-ons of a hosted cluster may belong to. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/**
 * Watches that the steps of upgrades keep their order, and that the status is ahead of no API server. It reads the last step
 * first: whatever a step has reached when it is read, the steps before it must have reached when they are read later.
 */
export class UpgradeStages extends ContinuousUser {
  readonly problems: string[] = [];
  samples = 0;
  readonly #bench: Workbench;
  readonly #cluster: string;
  readonly #hosted: KubeClient;
  readonly #givenEtcd: Readonly<Record<string, number>>;

  /**
   * @param hosted a client of the hosted cluster, which the caller closes after {@link stop}
   * @param givenEtcd the minor that a version of etcd belongs to, where the spec names it
   */
  constructor(bench: Workbench, cluster: string, hosted: KubeClient, givenEtcd: Readonly<Record<string, number>> = {}) {
    super();
    this.#givenEtcd = givenEtcd;
    this.#bench = bench;
    this.#cluster = cluster;
    this.#hosted = hosted;
    this.begin(300, () => this.#sample());
  }

  async #sample(): Promise<void> {
    const { namespace, client } = this.#bench;
    const names = namesOf(this.#cluster);
    const etcd = this.#etcdIn(imageIn(await client.get<Templated>(StatefulSet, { namespace, name: names.etcd })));
    const addOns = await this.#addOns().catch(() => undefined);
    const controllers = await Promise.all(
      [names.controllerManager, names.scheduler].map((name) => client.get<Templated>(Deployment, { namespace, name })),
    );
    const { status } = await this.#bench.get(this.#cluster);
    const served = await this.#served();
    if (addOns === undefined || status?.version === undefined || served.length === 0) return;
    this.samples += 1;
    const reported = rankOf(status.version);
    const rankAs = (binaries: string, emulated: string | undefined): number =>
      emulated === undefined || Number(emulated) === minorOf(binaries)
        ? rankOf(binaries)
        : emulatedRank(emulated, reported);
    const controllerRanks = controllers.map((deployment) =>
      rankAs(tagOf(imageIn(deployment)) ?? '', minorEmulatedBy(deployment)),
    );
    this.#judge({
      servedByOldest: Math.min(...served.map(({ gitVersion, emulationMinor }) => rankAs(gitVersion, emulationMinor))),
      reported,
      controllers: { newest: Math.max(...controllerRanks), oldest: Math.min(...controllerRanks) },
      addOns,
      etcd,
    });
  }

  #judge(stages: Stages): void {
    const { servedByOldest, reported, controllers, addOns, etcd } = stages;
    const isOrdered =
      reported <= servedByOldest &&
      controllers.newest <= servedByOldest &&
      addOns.first <= controllers.oldest &&
      etcd <= addOns.last;
    if (!isOrdered) {
      this.problems.push(`${new Date().toISOString()} ${JSON.stringify(stages)}`);
    }
  }

  /** kube-proxy carries the version of Kubernetes; those of CoreDNS and konnectivity may belong to several minors. */
  async #addOns(): Promise<Range> {
    const read = async (resource: Resource, name: string) =>
      tagOf(imageIn(await this.#hosted.get<Templated>(resource, { namespace: 'kube-system', name }))) ?? '';
    const kubeProxy = rankOf(await read(DaemonSet, 'kube-proxy'));
    const others = [
      minorsWith('coredns', await read(Deployment, 'coredns')),
      minorsWith('konnectivity', await read(Deployment, 'konnectivity-agent')),
    ];
    return {
      first: Math.max(kubeProxy, ...others.map(({ first }) => first)),
      last: Math.min(kubeProxy, ...others.map(({ last }) => last)),
    };
  }

  #etcdIn(image: string | undefined): number {
    const version = etcdVersionIn(tagOf(image));
    return (this.#givenEtcd[version ?? ''] ?? minorOfEtcd(version)) * 1000;
  }

  /** What `/version` says at each API server that answers. */
  async #served(): Promise<VersionAnswer[]> {
    const { namespace, client } = this.#bench;
    const { kubeconfig: name } = namesOf(this.#cluster).secrets;
    const kubeconfig = valueOf(await client.get<SecretObject>(Secret, { namespace, name }), 'value') ?? '';
    const serverName = apiServiceHost({ name: this.#cluster, namespace });
    const pods = (await this.#bench.pods(this.#cluster, 'api-server')).filter((pod) => !hasEnded(pod));
    const answers = pods.map(async ({ status }) => {
      if (status?.podIP === undefined) return [];
      const api = hostedClient(kubeconfig, undefined, { server: `https://${status.podIP}:${ports.api}`, serverName });
      try {
        return [JSON.parse(await api.raw('/version', { deadlineMs: 2_000 })) as VersionAnswer];
      } catch {
        return [];
      } finally {
        await api.connection.close();
      }
    });
    return (await Promise.all(answers)).flat();
  }
}

function minorEmulatedBy({ spec }: Templated): string | undefined {
  const { args = [] } = spec.template.spec.containers[0] ?? {};
  return /--emulated-version=1\.(\d+)/.exec(args.join(' '))?.[1];
}

/** Binaries emulate a minor, and no patch release of it. */
function emulatedRank(minor: string, reported: number): number {
  return Math.floor(reported / 1000) === Number(minor) ? reported : Number(minor) * 1000;
}

function imageIn({ spec }: Templated): string | undefined {
  return spec.template.spec.containers[0]?.image;
}

/** From the first to the last version of the minors that an image's tag is the default of. */
function minorsWith(component: 'coredns' | 'konnectivity', tag: string): Range {
  const known = Object.entries(minors).flatMap(([minor, defaults]) =>
    defaults[component] === tag.replace(/^v/, '') ? [Number(minor)] : [],
  );
  if (known.length === 0) throw new Error(`no minor has ${component} ${tag}`);
  return { first: Math.min(...known) * 1000, last: Math.max(...known) * 1000 + 999 };
}

/** A version between those of two minors is a step to the later one. */
function minorOfEtcd(version: string | undefined): number {
  const exact = Object.entries(minors).findLast(([, { etcd }]) => etcd === version)?.[0];
  if (exact !== undefined) return Number(exact);
  const own = version?.slice(0, version.lastIndexOf('.'));
  const [last = ''] = Object.entries(minors).findLast(([, { etcd }]) => etcd.startsWith(`${own}.`)) ?? [];
  return Number(last) + 1;
}

function rankOf(version: string): number {
  const { minor = 0, patch = 0 } = parseVersion(version) ?? {};
  return minor * 1000 + patch;
}
