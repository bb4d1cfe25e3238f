import type { SecretObject } from '../../imports/kubernetes.ts';
import { certificateLifetimes } from '../../constructs/api/certificates-spec.ts';
import { Secret } from '../../constructs/api/resources.ts';
import type { HostedControlPlaneStatus } from '../../constructs/api/status.ts';
import { ComparedClock } from '../../reconciler/kube/compared-clock.ts';
import { runPhases } from '../../reconciler/engine/run-phases.ts';
import { phases } from '../../reconciler/reconcile/phases.ts';
import type { Phase } from '../../reconciler/engine/run-phases.ts';
import type { Scope } from '../../reconciler/phases/scope.ts';
import { crossKey } from '../../reconciler/pki/cross-certificate.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import { valueOf } from '../../reconciler/pki/secret.ts';
import { settle } from '../support/management-controllers.ts';
import { MemoryObjects } from '../support/memory-objects.ts';
import { hostedCluster, now as firstDay, scopeOf } from '../support/scope.ts';
import { Answers } from './answers.ts';
import { verifies } from './chain.ts';
import { type Proof, proofsAmong } from './connections.ts';
import { Nodes } from './nodes.ts';
import { ReconcileWork } from './reconcile-work.ts';
import { type Process, Processes } from './processes.ts';
import { Random } from './random.ts';
import { Secrets } from './secrets.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
export const yearMs = 365 * dayMs;

export interface SimulationProps {
  readonly seed: number;
  readonly years: number;
  /** Longest time without an operator. */
  readonly longestOutageMs: number;
  /** `spec.certificates`. */
  readonly certificates?: object;
  /** How many times a user requests a rotation of each CA and key, at different times. */
  readonly requests?: number;
  /** Whether the clock of the operator jumps now and then, by an hour or a year, ahead or back, until it is corrected. */
  readonly jumps?: boolean;
}

/** The outcome of a simulation. */
export interface Outcome {
  /** Every handshake that failed, once, with the time of its first failure. */
  readonly failures: readonly string[];
  readonly reconciles: number;
  readonly proofs: number;
  /** Pods replaced, by component and cause. */
  readonly restarts: ReadonlyMap<string, number>;
  /** Successors of CAs and keys that were created, by the Secret they are for. */
  readonly rotations: ReadonlyMap<string, number>;
  readonly daysWithoutOperator: number;
  readonly jumps: number;
  /** Number of certificates that were issued while the clock was wrong. */
  readonly issuedByWrongClock: number;
}

/** The phases that certificates, their consumers and rotations need; the others do not use certificates. */
const conditions = new Set([
  'EtcdClusterReady',
  'ControllerManagerReady',
  'SchedulerReady',
  'APIServerReachable',
  'WorkloadClusterInfoReady',
  'WorkloadKonnectivityReady',
  'CARotationReady',
  'ServiceAccountKeyRotationReady',
]);
const wanted = phases.filter(({ condition }) => conditions.has(condition));
// their needs too, because each returns its requeue time
const simulated = phases.filter((phase) => wanted.some((one) => isNeededBy(one, phase)));

function isNeededBy(one: Phase<Scope>, other: Phase<Scope>): boolean {
  return one === other || [...one.needs, ...(one.after ?? [])].some((need) => isNeededBy(need, other));
}
const initialized: HostedControlPlaneStatus = { initialization: { controlPlaneInitialized: true } };

/** The minimum time between two reconciles: events within this time are handled together. */
const restMs = 2 * dayMs;
const jumpsMs = [hourMs, -hourMs, yearMs, -yearMs];
/** More consecutive reconciles than any step needs. */
const mostInARow = 200;

/**
 * Years of one hosted control plane in seconds: its phases in memory; an operator that is down now and then, dies at some
 * writes and continues from the stored state; pods that see their Secrets late or are evicted; and nodes that renew their
 * certificates. After every change all handshakes are verified.
 */
export class Simulation {
  readonly #props: SimulationProps;
  readonly #random: Random;
  readonly #management = new MemoryObjects();
  readonly #processes = new Processes();
  readonly #nodes: Nodes;
  readonly #answers: Answers;
  readonly #work = new ReconcileWork(() => this.#now);
  readonly #failures = new Map<string, string>();
  readonly #pods = new Map<string, { readonly trusted: string; readonly until: number }>();
  readonly #requests: { readonly at: number; readonly field: string; readonly text: string }[];
  #now = firstDay.getTime();
  /** By how much the operator's clock is wrong. */
  #aheadMs = 0;
  #jumps = 0;
  #untilJump = 3;
  #issuedByWrongClock = 0;
  #clock = this.#newClock();
  readonly #late = new Set<Process>();
  #waiting: string[] = [];
  #outageMs = 0;
  #reconciles = 0;
  #proofsMade = 0;

  constructor(props: SimulationProps) {
    this.#props = props;
    this.#random = new Random(props.seed);
    const { rootCASeconds, leafSeconds } = this.#lifetimes;
    this.#nodes = new Nodes({
      random: this.#random,
      count: 2,
      // nodes are moved, or replaced as every upgrade does, long before half of a CA's lifetime is over
      longestLifeMs: (rootCASeconds * 1000) / 4,
      signingMs: leafSeconds * 1000,
    });
    this.#answers = new Answers({
      processes: this.#processes,
      nodes: this.#nodes,
      now: () => this.#now,
      rootTrust: () => this.#rootTrust,
    });
    this.#requests = this.#chooseRequests();
  }

  /** Runs to the end. */
  async run(): Promise<Outcome> {
    const end = this.#now + this.#props.years * yearMs;
    let next = await this.#reconcile(initial);
    await this.#liveNodes();
    while (this.#now < end) {
      const outage = this.#random.between(0, this.#props.longestOutageMs);
      const untilOutage = Math.min(end, this.#now + this.#random.between(0.05, 2) * this.#props.longestOutageMs);
      while (this.#now < untilOutage && this.#now < end) {
        await this.#advance(Math.min(next, untilOutage), 'watched');
        if (this.#now < untilOutage) next = await this.#reconcile(initialized);
      }
      this.#outageMs += outage;
      await this.#advance(untilOutage + outage, 'unwatched');
      this.#work.forget();
      this.#clock = this.#newClock();
      next = await this.#reconcile(initialized);
    }
    return {
      failures: [...this.#failures].map(([what, when]) => `${when}: ${what}`),
      reconciles: this.#reconciles,
      proofs: this.#proofsMade,
      restarts: this.#processes.restarts,
      rotations: this.#rotations(),
      daysWithoutOperator: Math.round(this.#outageMs / dayMs),
      jumps: this.#jumps,
      issuedByWrongClock: this.#issuedByWrongClock,
    };
  }

  /** Advances the time while nodes and pods run and the operator does nothing; a watching operator returns at a change. */
  async #advance(until: number, attention: 'watched' | 'unwatched'): Promise<void> {
    while (this.#now < until) {
      const next = Math.min(until, this.#nodes.next, ...[...this.#pods.values()].map((pod) => pod.until));
      this.#now = Math.max(this.#now, Math.ceil(next));
      this.#prove();
      const haveChanged = await this.#liveNodes();
      if (this.#random.happens(0.1)) this.#evict();
      this.#prove();
      if (haveChanged && attention === 'watched') return;
    }
  }

  /** Of a new process, which has seen no answer yet. */
  #newClock(): ComparedClock {
    return new ComparedClock({
      now: () => this.#now + this.#aheadMs,
      elapsed: () => this.#now,
      setTimer: () => () => {},
    });
  }

  /** After some reconciles each time: a rotation takes many within days, and then years take few. */
  #isJumpDue(): boolean {
    this.#untilJump -= 1;
    if (this.#untilJump > 0) return false;
    this.#untilJump = this.#random.integer(3, 11);
    return true;
  }

  /** The clock of the operator is wrong for some minutes, in a process that has known the right time, or in a new one. */
  async #jump(status: HostedControlPlaneStatus): Promise<void> {
    this.#jumps += 1;
    this.#aheadMs = jumpsMs[this.#random.integer(0, jumpsMs.length)] ?? 0;
    if (this.#random.happens(0.5)) this.#clock = this.#newClock();
    const before = this.#certificates();
    for (let count = 0; count < 3; count++) {
      await this.#reconcileOnce(status);
      this.#now += minuteMs;
    }
    this.#issuedByWrongClock += [...this.#certificates()].filter((one) => !before.has(one)).length;
    this.#aheadMs = 0;
    await this.#reconcileOnce(status);
    this.#now += 2 * minuteMs;
  }

  /** Every certificate in a Secret. Leaves get the one by which a CA certifies its successor later than the Secret of the CA. */
  #certificates(): ReadonlySet<string> {
    const secrets = this.#management.list<SecretObject>(Secret, {});
    const values = secrets.flatMap((secret) => ['tls.crt', crossKey].map((key) => valueOf(secret, key) ?? ''));
    return new Set(values.flatMap(splitCertificates));
  }

  /** Reconciles until nothing is left to do at once. Returns the time of the next reconcile. */
  async #reconcile(status: HostedControlPlaneStatus): Promise<number> {
    for (let count = 0; count < mostInARow; count++) {
      const before = this.#management.writes.length;
      if (this.#props.jumps && status === initialized && this.#isJumpDue()) await this.#jump(status);
      const isKilled = this.#random.happens(0.1);
      if (isKilled) this.#management.dieAfter(this.#random.integer(0, 3));
      const { requeueAt, isDone } = await this.#reconcileOnce(status);
      this.#management.restart();
      const isIdle = this.#management.writes.length === before && !isKilled && this.#areCurrent();
      // pods see new Secrets within a minute or two
      this.#now += Math.ceil(this.#random.between(0.2, 2) * minuteMs);
      if (isIdle && (isDone || requeueAt > this.#now + hourMs))
        return Math.max(requeueAt, this.#now + restMs * this.#haste);
      if (isIdle && requeueAt > this.#now) this.#now = Math.ceil(requeueAt);
    }
    throw new Error(
      `seed ${this.#props.seed}: ${mostInARow} reconciles in a row on ${this.#date}: ${this.#waiting.join('; ')}, ${this.#management.writes.slice(-5).join(', ')}`,
    );
  }

  async #reconcileOnce(
    status: HostedControlPlaneStatus,
  ): Promise<{ readonly requeueAt: number; readonly isDone: boolean }> {
    this.#reconciles += 1;
    this.#clock.take({ date: new Date(this.#now).toUTCString(), tookMs: 0 });
    const results = await runPhases(simulated, this.#scope(status));
    this.#processes.remember(this.#management);
    settle(this.#management);
    this.#processes.follow(this.#management, this.#now, () => this.#prove());
    this.#processes.show(this.#management);
    const isNew = await this.#work.settle();
    const secrets = Secrets.of(this.#management);
    for (const process of this.#processes.all) this.#mount(process, secrets);
    await this.#liveNodes();
    this.#prove();
    this.#waiting = results.flatMap(({ phase, update }) =>
      update.status === 'True' ? [] : `${phase.condition} ${update.reason} ${update.message}`,
    );
    const times = results.flatMap(({ requeueAt }) => (requeueAt ? [requeueAt.getTime()] : []));
    return {
      requeueAt: Math.min(
        this.#now + 60 * dayMs * this.#haste,
        ...times,
        ...this.#requests.map(({ at }) => at).filter((at) => at > this.#now),
      ),
      isDone: results.every(({ isDone }) => isDone) && !isNew,
    };
  }

  /** A kubelet takes two minutes at most, which is the time until the next reconcile. */
  #mount(process: Process, secrets: Secrets): void {
    if (this.#late.delete(process) || this.#random.happens(0.7)) process.refresh(secrets);
    else this.#late.add(process);
  }

  #scope(status: HostedControlPlaneStatus) {
    const changes = { ...this.#changes(), status, hosted: this.#answers.hosted, work: this.#work };
    return { ...scopeOf(this.#management, changes), trustProbes: this.#answers };
  }

  #changes() {
    const requested = this.#requests
      .filter(({ at }) => at <= this.#now)
      .map(({ field, text }) => [field, text] as const);
    const certificates = { ...this.#props.certificates, rotation: Object.fromEntries(requested) };
    return { now: new Date(this.#clock.now()), clockFault: this.#clock.fault(), spec: { certificates } };
  }

  async #liveNodes(): Promise<boolean> {
    const [controllerManager] = this.#processes.of('controller-manager');
    const trusted = Secrets.of(this.#management).value('clusterCA', 'tls.crt');
    if (!controllerManager) return false;
    const haveChanged = await this.#nodes.live({ now: new Date(this.#now), trusted, signer: controllerManager.signer });
    const published = this.#rootTrust;
    for (const name of ['agent', 'pod']) {
      if ((this.#pods.get(name)?.until ?? 0) > this.#now) continue;
      this.#pods.set(name, {
        trusted: published,
        until: this.#now + this.#random.between(0.1, 1) * 0.1 * this.#lifetimes.rootCASeconds * 1000,
      });
    }
    return haveChanged;
  }

  get #rootTrust(): string {
    const [controllerManager] = this.#processes.of('controller-manager');
    const purpose = 'becomes kube-root-ca.crt';
    return controllerManager?.read('clusterCA', 'kube-controller-manager', 'trust', 'tls.crt', purpose) ?? '';
  }

  #evict(): void {
    const { all } = this.#processes;
    const process = all[this.#random.integer(0, all.length)];
    if (process) this.#processes.replace(process, this.#management, this.#now);
    this.#processes.show(this.#management);
  }

  #areCurrent(): boolean {
    const secrets = Secrets.of(this.#management);
    return this.#processes.all.every((process) => process.isCurrent(secrets));
  }

  /** Verifies every handshake. */
  #prove(): void {
    for (const proof of this.#proofs()) {
      this.#proofsMade += 1;
      if (!verifies(proof, this.#now) && !this.#failures.has(proof.what)) this.#failures.set(proof.what, this.#date);
    }
  }

  #proofs(): Proof[] {
    const processes = this.#processes;
    const [apiServers, etcd] = [processes.of('api-server'), processes.of('etcd')];
    const trusts = (name: string) =>
      new Map([...this.#pods].filter(([key]) => key === name).map(([key, { trusted }]) => [key, trusted]));
    return proofsAmong({
      secrets: Secrets.of(this.#management),
      etcd,
      apiServers,
      controllerManagers: processes.of('controller-manager'),
      schedulers: processes.of('scheduler'),
      nodes: this.#nodes.all,
      pods: trusts('pod'),
      agents: trusts('agent'),
    });
  }

  #rotations(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const write of this.#management.writes) {
      const name = /^create Secret (c1-(?:ca|etcd|proxy|sa))-next$/.exec(write)?.[1];
      if (name) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  #chooseRequests() {
    const { requests = 0, years } = this.#props;
    const fields = ['clusterCA', 'etcdCA', 'proxyCA', 'serviceAccountKey'];
    return Array.from({ length: requests }, (_, index) => index)
      .flatMap((index) => fields.map((field) => ({ field, text: `request ${index}` })))
      .map((request) => ({ ...request, at: this.#now + this.#random.between(0.02, 0.95) * years * yearMs }))
      .sort((a, b) => a.at - b.at);
  }

  get #lifetimes() {
    return certificateLifetimes(hostedCluster({ certificates: this.#props.certificates ?? {} }).spec.certificates);
  }

  /** How much shorter than usual all times are. */
  get #haste(): number {
    return this.#lifetimes.leafSeconds / (yearMs / 1000);
  }

  get #date(): string {
    return new Date(this.#now).toISOString();
  }
}

const initial: HostedControlPlaneStatus = {};
