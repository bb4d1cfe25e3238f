/** A probe pod, as the scheduler has decided about it. */
export interface Probe {
  /** Digest of the template that it tries. */
  readonly template: string;
  readonly state: 'waiting' | 'scheduled' | 'refused';
  /** What the scheduler says if it has refused it. */
  readonly words: string;
}

export interface ProbeObservation {
  /** Digest of the template that is to be tried. */
  readonly template: string;
  /** The probe on the node of the pod that runs, where only what is needed in addition has to fit. */
  readonly here: Probe | undefined;
  /** The probe on any node. */
  readonly anywhere: Probe | undefined;
}

export type ProbeDecision =
  /** These are of another template. */
  | { readonly kind: 'remove' }
  | { readonly kind: 'create'; readonly where: 'here' | 'anywhere' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'passed' }
  | { readonly kind: 'refused'; readonly words: string };

/**
 * The next step of a trial of whether a pod would find a node. Both probes stay while they are refused: the scheduler tries them
 * again when nodes change.
 */
export function planProbe({ template, here, anywhere }: ProbeObservation): ProbeDecision {
  if ([here, anywhere].some((probe) => probe && probe.template !== template)) return { kind: 'remove' };
  if (here?.state === 'scheduled' || anywhere?.state === 'scheduled') return { kind: 'passed' };
  if (!here) return { kind: 'create', where: 'here' };
  if (here.state === 'waiting') return { kind: 'wait' };
  if (!anywhere) return { kind: 'create', where: 'anywhere' };
  return anywhere.state === 'waiting' ? { kind: 'wait' } : { kind: 'refused', words: anywhere.words };
}
