import { Deployment, Pod, StatefulSet } from '../../constructs/api/resources.ts';
import { reloads } from '../../constructs/control-plane/certificates/restarts.ts';
import {
  type Part,
  type Program,
  podsOf,
  type SecretRole,
  type Use,
  uses,
} from '../../constructs/control-plane/certificates/certificate-consumers.ts';
import { restartsWithAnnotation } from '../../constructs/pod/component.ts';
import { namesOf } from '../../constructs/cluster/names.ts';
import { isKeyOf } from '../../reconciler/pki/certificate.ts';
import type { KeyPair } from '../../reconciler/pki/issue.ts';
import { splitCertificates } from '../../reconciler/pki/pem.ts';
import type { KubeObject } from '../../reconciler/kube/object.ts';
import type { MemoryObjects, StoredObject } from '../support/memory-objects.ts';
import { clusterName, hostedCluster } from '../support/scope.ts';
import { Secrets } from './secrets.ts';

const cluster = hostedCluster();
const names = namesOf(clusterName);

const workloads = [
  { component: 'etcd', resource: StatefulSet, name: names.etcd },
  { component: 'api-server', resource: Deployment, name: names.apiServer },
  { component: 'controller-manager', resource: Deployment, name: names.controllerManager },
  { component: 'scheduler', resource: Deployment, name: names.scheduler },
] as const;
export type Component = (typeof workloads)[number]['component'];

interface Workload extends KubeObject {
  readonly spec: { readonly replicas?: number; readonly template: { readonly metadata: KubeObject['metadata'] } };
}

interface PodIdentity {
  readonly pod: string;
  readonly component: Component;
  readonly template: Workload['spec']['template'];
}

let pods = 0;

/** One pod with its programs: the files they read when they started, and the files that are mounted now. */
export class Process {
  readonly pod: string;
  readonly component: Component;
  readonly template: Workload['spec']['template'];
  readonly startedAt: number;
  /** IP address, unique for each pod of the simulation. */
  readonly address = `10.9.${Math.floor(pods / 256)}.${pods++ % 256}`;
  readonly #started: Secrets;
  #mounted: Secrets;
  #signer: KeyPair | undefined;

  constructor({ pod, component, template }: PodIdentity, secrets: Secrets, now: number) {
    this.pod = pod;
    this.component = component;
    this.template = template;
    this.startedAt = now;
    this.#started = secrets;
    this.#mounted = secrets;
    this.#readSigner();
  }

  /** Whether the mounted files equal the Secrets. */
  isCurrent(secrets: Secrets): boolean {
    return this.#mounted.equals(secrets);
  }

  /** The kubelet mounts the current Secrets. */
  refresh(secrets: Secrets): void {
    this.#mounted = secrets;
    this.#readSigner();
  }

  /** The content that a program of the pod uses, according to the table of uses. */
  read(role: keyof typeof uses, program: Program, part: Part, key = 'tls.crt', purpose?: string): string {
    if (podsOf[program] !== this.component) throw new Error(`${program} does not run in pods of ${this.component}`);
    const fits = (use: Use) => use.program === program && use.part === part && (purpose ?? use.purpose) === use.purpose;
    const use = uses[role].find(fits);
    if (!use) throw new Error(`${program} has no use of ${role} as ${part}`);
    return (reloads(use, cluster) ? this.#mounted : this.#started).value(role satisfies SecretRole, key);
  }

  /** The CA that a controller manager signs kubelet certificates with: the newest matching pair it has read. */
  get signer(): KeyPair {
    if (!this.#signer) throw new Error(`${this.pod} has nothing to sign with`);
    return this.#signer;
  }

  #readSigner(): void {
    if (this.component !== 'controller-manager') return;
    const own = this.#mounted.value('controllerManager', 'ca.crt');
    const [certificate = ''] = splitCertificates(own || this.#mounted.value('clusterCA', 'tls.crt'));
    const key = this.#mounted.value('clusterCA', 'tls.key');
    if (certificate && key && isKeyOf(certificate, key)) this.#signer = { certificate, key };
  }
}

/** Every pod of the control plane, as its workload requests it. */
export class Processes {
  /** How many pods were replaced, by component and cause. */
  readonly restarts = new Map<string, number>();
  readonly #running = new Map<string, Process>();
  readonly #notes = new Map<string, Readonly<Record<string, string>>>();

  get all(): readonly Process[] {
    return [...this.#running.values()];
  }

  of(component: Component): Process[] {
    return this.all.filter((process) => process.component === component);
  }

  /** Replaces pods whose template has changed, one after the other. @param afterEach checks the state between two replacements */
  follow(management: MemoryObjects, now: number, afterEach: () => void): void {
    for (const { component, resource, name } of workloads) {
      const workload = management.get<Workload>(resource, name);
      if (!workload) continue;
      for (let ordinal = 0; ordinal < (workload.spec.replicas ?? 1); ordinal++) {
        const pod = `${name}-${ordinal}`;
        const present = this.#running.get(pod);
        const { template } = workload.spec;
        if (present && JSON.stringify(present.template) === JSON.stringify(template)) continue;
        if (present) this.#count(component, present.template, template);
        this.#running.set(pod, new Process({ pod, component, template }, Secrets.of(management), now));
        afterEach();
      }
    }
  }

  /** A pod is evicted, or its container dies: the new one reads all files again. */
  replace(old: Process, management: MemoryObjects, now: number): void {
    this.#running.set(old.pod, new Process(old, Secrets.of(management), now));
  }

  /** Stores the annotations of pods, which are about to be written again. */
  remember(management: MemoryObjects): void {
    for (const { metadata } of management.list(Pod, {}))
      this.#notes.set(metadata.uid ?? '', metadata.annotations ?? {});
  }

  /** Writes the addresses and start times of the pods to their objects. */
  show(management: MemoryObjects): void {
    for (const { pod, address, startedAt } of this.all) {
      const object = management.get<StoredObject>(Pod, pod);
      if (!object) continue;
      const annotations = { ...this.#notes.get(address), ...object.metadata.annotations };
      const status = { ...(object['status'] as object), podIP: address };
      const creationTimestamp = new Date(startedAt).toISOString();
      management.put({
        ...object,
        metadata: { ...object.metadata, annotations, uid: address, creationTimestamp },
        status,
      });
    }
  }

  #count(component: Component, before: Workload['spec']['template'], after: Workload['spec']['template']): void {
    const row = `${component}: ${causesBetween(before.metadata, after.metadata).join(', ') || 'another change of the pod'}`;
    this.restarts.set(row, (this.restarts.get(row) ?? 0) + 1);
  }
}

function causesBetween(before: KubeObject['metadata'], after: KubeObject['metadata']): string[] {
  const old = new Set(factsOf(before));
  return factsOf(after)
    .filter((fact) => !old.has(fact))
    .map((fact) => fact.split('=', 1)[0] ?? fact);
}

function factsOf({ annotations }: KubeObject['metadata']): string[] {
  return annotations?.[restartsWithAnnotation]?.split(',') ?? [];
}
