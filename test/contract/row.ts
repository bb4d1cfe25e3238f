/** A test that proves a part of a demand: its file below `test/`, without `.ts`, and its name, or the name of its row. */
export type Proof = readonly [file: string, name: string];

/** One demand of Cluster API's contract for control plane providers, and what shows that this provider meets it. */
export type Row = Demand & (Proved | Open | NotApplicable);

interface Demand {
  /** What a control plane provider must do, in one sentence. */
  readonly demand: string;
}

interface Proved {
  readonly proofs: readonly [Proof, ...Proof[]];
}

/** Not proved as a whole. */
interface Open {
  /** What is missing: in the provider, or only in the proof. */
  readonly open: string;
  /** What proves a part of it. */
  readonly proofs?: readonly Proof[];
}

interface NotApplicable {
  /** Why this provider need not do it. */
  readonly notApplicable: string;
  /** What shows that. */
  readonly proofs?: readonly Proof[];
}
