/** A word or phrase that no text for users may contain. */
export interface AvoidedWord {
  /** All its forms. They match as whole words, in any case. */
  readonly forms: readonly string[];
  /** What to write instead. */
  readonly instead: string;
  /** A word before it with which it is a term of the field. */
  readonly unlessAfter?: string;
}

/** Words that hide the actor, or that are not those of Kubernetes, etcd and PKI. */
export const avoidedWords: readonly AvoidedWord[] = [
  { forms: ['nobody', 'somebody', 'everybody', 'anybody', 'whoever', 'whomever'], instead: 'name the actor' },
  { forms: ['ours', 'none of ours', 'of our own'], instead: 'of the operator' },
  { forms: ['tell', 'tells', 'told', 'said by'], instead: 'report' },
  { forms: ['hear', 'hears', 'heard'], instead: 'is called, receives' },
  { forms: ['notice', 'notices', 'noticed'], instead: 'observe, event' },
  { forms: ['anew'], instead: 'again' },
  { forms: ['by itself', 'by themselves'], instead: 'automatically, or name the actor' },
  { forms: ['so-manieth', 'in vain', 'all the same', 'left alone', 'be had'], instead: 'plain English' },
  { forms: ['ill', 'is well', 'are well', 'well and'], instead: 'unhealthy, healthy' },
  { forms: ['is away', 'are away'], instead: 'is unreachable' },
  { forms: ['put right', 'mend', 'mends', 'mended'], instead: 'revert, correct' },
  {
    forms: ['look', 'looks', 'looked', 'looking'].flatMap((form) =>
      ['at', 'after', 'into'].map((to) => `${form} ${to}`),
    ),
    instead: 'observe, check, manage',
  },
  { forms: ['wish', 'wishes', 'wished'], instead: 'restore source, desired state' },
  { forms: ['survivor', 'survivors'], instead: 'newest reachable member' },
  { forms: ['stranger', 'strangers'], instead: 'unknown member, another client' },
  { forms: ['laggard', 'laggards'], instead: 'pending consumer' },
  { forms: ['claimant', 'claimants', 'claim book'], instead: 'host owner, host claim' },
  { forms: ['verdict', 'verdicts'], instead: 'condition update, result' },
  { forms: ['trouble', 'troubles', 'obstacle', 'obstacles'], instead: 'problem, blocker' },
  { forms: ['trial', 'trials'], instead: 'verification' },
  { forms: ['inquiry', 'inquiries'], instead: 'request' },
  { forms: ['world', 'surroundings'], instead: 'management cluster, shared resources' },
  { forms: ['authority', 'authorities'], instead: 'CA', unlessAfter: 'certificate' },
  { forms: ['way in', 'ways in'], instead: 'exposure strategy' },
  { forms: ['a pass', 'one pass', 'each pass', 'every pass', 'next pass', 'passes over'], instead: 'a reconcile' },
];

/** An avoided word in a text. */
export interface AvoidedUse {
  /** Line of the text on which it starts, from 1. */
  readonly line: number;
  /** The word, and what to write instead. */
  readonly advice: string;
}

/** The avoided words in a text, in the order of the list. */
export function avoidedIn(text: string): AvoidedUse[] {
  return patterns.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ line: text.slice(0, index).split('\n').length, advice })),
  );
}

/** Names with dashes, such as certificate-authority, are one word. A line break counts as a space. */
const patterns = avoidedWords.flatMap(({ forms, instead, unlessAfter }) =>
  forms.map((form) => {
    const term = unlessAfter === undefined ? '' : `(?<!\\b${unlessAfter}\\s)`;
    return {
      pattern: new RegExp(`${term}(?<![\\w-])${form.replaceAll(' ', '\\s+')}(?![\\w-])`, 'gi'),
      advice: `"${form}": ${instead}`,
    };
  }),
);
