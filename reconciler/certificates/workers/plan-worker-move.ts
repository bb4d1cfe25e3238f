import type { MachineDeploymentObject, MachinePoolObject } from '../../../imports/cluster-api.ts';
import type { KubeObject } from '../../kube/object.ts';
import { isSignedBy } from '../../pki/certificate.ts';
import {
  deploymentOf,
  isOlderThan,
  machineOf,
  mustRollOut,
  timestamp,
  joinsByOldData,
  type MachinePoolState,
  mustAnnotate,
  poolOf,
} from './machines.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';
import type { NodeCertificate } from './node-certificates.ts';

/** What is known of the workers of a cluster whose CA has changed. */
export interface WorkersState {
  /** PEM of the signing CA. */
  readonly signer: string;
  /** Name of the signing CA in annotations of Nodes and MachineDeployments. */
  readonly signerName: string;
  /** When it began to sign. */
  readonly since: Date;
  /** When the last certificate has expired that the previous CA can have issued to a kubelet. */
  readonly oldEnd: Date;
  readonly now: Date;
  readonly nodes: readonly KubeObject[];
  /** The newest recent certificates of each kind, by the names of the nodes. */
  readonly issued: ReadonlyMap<NodeCertificate, ReadonlyMap<string, string>>;
  readonly machines: readonly KubeObject[];
  readonly deployments: readonly MachineDeploymentObject[];
  readonly pools: readonly MachinePoolState[];
  /** Since when the signing CA is valid, in the form of a time in an object. */
  readonly caNotBefore: string;
}

/** All annotations that record which certificates of a Node the signing CA has issued. */
interface Note {
  readonly node: KubeObject;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What to do, and what to wait for. */
interface WorkersDecision {
  /** Annotations for Nodes. */
  readonly notes: readonly Note[];
  /** MachineDeployments whose Machines must be replaced. */
  readonly rollOut: readonly MachineDeploymentObject[];
  /** MachinePools whose templates must name the signing CA. */
  readonly annotate: readonly MachinePoolObject[];
  /** What it waits for, as a sentence; empty if nothing. */
  readonly message: string;
  readonly requeueAt?: Date | undefined;
}

/**
 * After this time the controller manager has loaded the new key. A Node that was created later, of a Machine that was
 * created later, has never had a certificate of another CA. Younger ones are checked by their issued certificates.
 */
const surelyNewMs = 15 * 60_000;

/** The progress of workers towards the signing CA. */
export function planWorkers(state: WorkersState): WorkersDecision {
  const { now, oldEnd, signerName, since, deployments } = state;
  if (now >= oldEnd) return { notes: [], rollOut: [], annotate: [], message: '' };

  const old = state.machines.filter((machine) => deploymentOf(machine) !== undefined && isOlderThan(machine, since));
  const deploymentNames = new Set(old.map(deploymentOf));
  const replaced = new Set(old.map(({ metadata }) => metadata.name));
  const waiting = state.nodes.filter((node) => !hasMoved(node, state) && !replaced.has(machineOf(node) ?? ''));
  const outdated = state.pools.filter((pool) => joinsByOldData(pool, since));
  return {
    notes: state.nodes.flatMap((node) => noteFor(node, state)),
    rollOut: deployments.filter(
      (deployment) => deploymentNames.has(deployment.metadata.name) && mustRollOut(deployment, signerName, since),
    ),
    annotate: state.pools.flatMap(({ pool }) => (mustAnnotate(pool, state.caNotBefore) ? pool : [])),
    message: [
      ...machinesSentence([...replaced], [...deploymentNames]),
      ...poolsSentence(outdated),
      ...nodesSentence(waiting, oldEnd),
    ].join('; '),
    requeueAt: old.length + outdated.length > 0 ? nextCheck(since, now) : waiting.length > 0 ? oldEnd : undefined,
  };
}

/** Whether the signing CA has issued every certificate of a node. */
function hasMoved(node: KubeObject, state: WorkersState): boolean {
  return provenBy(node, state).length === state.issued.size || isSurelyNew(node, state);
}

function noteFor(node: KubeObject, state: WorkersState): Note[] {
  const proven = provenBy(node, state);
  const isNoted = (kind: NodeCertificate) => noteOn(node, kind) === state.signerName;
  if ([...state.issued.keys()].every((kind) => isNoted(kind) === proven.includes(kind))) return [];
  return [{ node, annotations: Object.fromEntries(proven.map(({ annotation }) => [annotation, state.signerName])) }];
}

/** The kinds whose newest known certificate of a node was issued by the signing CA. */
function provenBy(node: KubeObject, { issued, signer, signerName }: WorkersState): NodeCertificate[] {
  const proven = [...issued].filter(([kind, certificates]) => {
    const certificate = certificates.get(node.metadata.name);
    return certificate === undefined ? noteOn(node, kind) === signerName : isSignedBy(certificate, signer);
  });
  return proven.map(([kind]) => kind);
}

function noteOn({ metadata }: KubeObject, { annotation }: NodeCertificate): string | undefined {
  return metadata.annotations?.[annotation];
}

/** Either of them alone may have been recreated for an existing worker: a Node by its kubelet, a Machine by a move. */
function isSurelyNew(node: KubeObject, state: WorkersState): boolean {
  const { machines, since, issued, signer } = state;
  const given = [...issued.values()].flatMap((certificates) => certificates.get(node.metadata.name) ?? []);
  if (!given.every((certificate) => isSignedBy(certificate, signer))) return false;
  const machine = machines.find(({ metadata }) => metadata.name === machineOf(node));
  const from = new Date(since.getTime() + surelyNewMs);
  return machine !== undefined && !isOlderThan(machine, from) && !isOlderThan(node, from);
}

/** Machines are not watched. At first they change often. A Machine that is not replaced for weeks is checked rarely. */
function nextCheck(since: Date, now: Date): Date {
  const elapsedMs = now.getTime() - since.getTime();
  return new Date(now.getTime() + Math.min(Math.max(elapsedMs / 10, 5_000), 5 * 60_000));
}

function machinesSentence(machines: readonly string[], deployments: readonly (string | undefined)[]): string[] {
  if (machines.length === 0) return [];
  const names = deployments.filter((name) => name !== undefined);
  return [`MachineDeployments ${namesOfMany(names)} replace Machines ${namesOfMany(machines)}`];
}

/** After the old CA is gone, nothing but new bootstrap data lets a machine of the pool join. */
function poolsSentence(outdated: readonly MachinePoolState[]): string[] {
  if (outdated.length === 0) return [];
  const pools = namesOfMany(outdated.map(({ pool }) => pool.metadata.name));
  return [
    `new machines of MachinePools ${pools} accept the old CA only: let spec.template.spec.bootstrap.configRef name a copy of its object without spec.joinConfiguration.discovery`,
  ];
}

function nodesSentence(nodes: readonly KubeObject[], oldEnd: Date): string[] {
  const [ofPools, others] = [nodes.filter((node) => poolOf(node)), nodes.filter((node) => !poolOf(node))];
  const renew = `renew their certificates automatically, the last one by ${timestamp(oldEnd)}`;
  const names = (some: readonly KubeObject[]) => namesOfMany(some.map(({ metadata }) => metadata.name));
  const pools = namesOfMany([...new Set(ofPools.flatMap((node) => poolOf(node) ?? []))]);
  return [
    ...(others.length > 0 ? [`nodes ${names(others)} ${renew}: join them again to renew them sooner`] : []),
    ...(ofPools.length > 0
      ? [
          `nodes ${names(ofPools)} of MachinePools ${pools} ${renew}: let their infrastructure replace them to renew them sooner, because Cluster API has no field for it`,
        ]
      : []),
  ];
}
