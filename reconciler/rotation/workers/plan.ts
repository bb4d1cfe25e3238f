import type { KubeObject } from '../../kube/object.ts';
import { isSignedBy } from '../../pki/certificate.ts';
import {
  deploymentOf,
  isOlderThan,
  type MachineDeploymentObject,
  machineOf,
  mustRollOut,
  timestamp,
} from './machines.ts';
import { namesOfMany } from '../../kube/names-of-many.ts';
import type { NodeCertificate } from './node-certificates.ts';

/** What is known of the workers of a cluster whose authority has changed. */
export interface WorkersState {
  /** PEM of the authority that signs now. */
  readonly signer: string;
  /** The same as notes on Nodes and MachineDeployments name it. */
  readonly signerName: string;
  /** When it began to sign. */
  readonly since: Date;
  /** When the last certificate has expired that the authority before it can have given to a kubelet. */
  readonly oldEnd: Date;
  readonly now: Date;
  readonly nodes: readonly KubeObject[];
  /** The newest certificates of each kind that were given to nodes lately, by the names of the nodes. */
  readonly issued: ReadonlyMap<NodeCertificate, ReadonlyMap<string, string>>;
  readonly machines: readonly KubeObject[];
  readonly deployments: readonly MachineDeploymentObject[];
}

/** All annotations that say which certificates of a Node are of the authority that signs now. */
export interface Note {
  readonly node: KubeObject;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What is to be done, and for whom is to be waited. */
export interface WorkersDecision {
  /** What is to be noted on Nodes. */
  readonly notes: readonly Note[];
  /** MachineDeployments whose Machines are to be replaced. */
  readonly rollOut: readonly MachineDeploymentObject[];
  /** What is waited for, as a sentence; empty when nothing is. */
  readonly message: string;
  readonly requeueAt?: Date | undefined;
}

/**
 * The controller manager has taken the new key up by then, and a Node that is new, of a Machine that is new, has never
 * had another one's certificate. Younger ones are asked for the certificate that they were given.
 */
const surelyNewMs = 15 * 60_000;

/** Where workers stand on their way to the authority that signs now. */
export function planWorkers(state: WorkersState): WorkersDecision {
  const { now, oldEnd, signerName, since, deployments } = state;
  if (now >= oldEnd) return { notes: [], rollOut: [], message: '' };

  const old = state.machines.filter((machine) => deploymentOf(machine) !== undefined && isOlderThan(machine, since));
  const deploymentNames = new Set(old.map(deploymentOf));
  const replaced = new Set(old.map(({ metadata }) => metadata.name));
  const waiting = state.nodes
    .filter((node) => !hasMoved(node, state) && !replaced.has(machineOf(node) ?? ''))
    .map(({ metadata }) => metadata.name);
  return {
    notes: state.nodes.flatMap((node) => noteFor(node, state)),
    rollOut: deployments.filter(
      (deployment) => deploymentNames.has(deployment.metadata.name) && mustRollOut(deployment, signerName, since),
    ),
    message: [...machinesSentence([...replaced], [...deploymentNames]), ...nodesSentence(waiting, oldEnd)].join('; '),
    requeueAt: old.length > 0 ? nextLook(since, now) : waiting.length > 0 ? oldEnd : undefined,
  };
}

/** Whether every certificate of a node is of the authority that signs now. */
function hasMoved(node: KubeObject, state: WorkersState): boolean {
  return provenBy(node, state).length === state.issued.size || isSurelyNew(node, state);
}

function noteFor(node: KubeObject, state: WorkersState): Note[] {
  const proven = provenBy(node, state);
  const isNoted = (kind: NodeCertificate) => noteOn(node, kind) === state.signerName;
  if ([...state.issued.keys()].every((kind) => isNoted(kind) === proven.includes(kind))) return [];
  return [{ node, annotations: Object.fromEntries(proven.map(({ annotation }) => [annotation, state.signerName])) }];
}

/** The kinds of which the newest certificate of a node that is known is of the authority that signs now. */
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

/** Either alone may have been made anew for what was there before: a Node by its kubelet, a Machine by a move. */
function isSurelyNew(node: KubeObject, state: WorkersState): boolean {
  const { machines, since, issued, signer } = state;
  const given = [...issued.values()].flatMap((certificates) => certificates.get(node.metadata.name) ?? []);
  if (!given.every((certificate) => isSignedBy(certificate, signer))) return false;
  const machine = machines.find(({ metadata }) => metadata.name === machineOf(node));
  const from = new Date(since.getTime() + surelyNewMs);
  return machine !== undefined && !isOlderThan(machine, from) && !isOlderThan(node, from);
}

/** Machines are not watched. At first they change often; one that nobody replaces for weeks is looked at seldom. */
function nextLook(since: Date, now: Date): Date {
  const elapsedMs = now.getTime() - since.getTime();
  return new Date(now.getTime() + Math.min(Math.max(elapsedMs / 10, 5_000), 5 * 60_000));
}

function machinesSentence(machines: readonly string[], deployments: readonly (string | undefined)[]): string[] {
  if (machines.length === 0) return [];
  const names = deployments.filter((name) => name !== undefined);
  return [`Machines ${namesOfMany(machines)} are to be replaced, by MachineDeployments ${namesOfMany(names)}`];
}

function nodesSentence(nodes: readonly string[], oldEnd: Date): string[] {
  if (nodes.length === 0) return [];
  const end = timestamp(oldEnd);
  return [
    `nodes ${namesOfMany(nodes)} renew their certificates by themselves, the last one by ${end}, or sooner when they are joined anew`,
  ];
}
