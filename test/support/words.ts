/** A word or phrase that no text for users may contain. */
export interface AvoidedWord {
  /** All its forms. They match as whole words, in any case. */
  readonly forms: readonly string[];
  /** What to write instead. */
  readonly instead: string;
  /** Terms of the field that contain one of the forms. */
  readonly terms?: readonly string[];
  /** Whether only a form at the start of a clause that is no question is avoided. */
  readonly startsClause?: boolean;
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
  {
    forms: ['ill', 'is well', 'are well', 'well and'],
    instead: 'unhealthy, healthy',
    // String.isWellFormed of JavaScript
    terms: ['is well formed'],
  },
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
  {
    forms: ['authority', 'authorities'],
    instead: 'CA',
    // flags and fields of Kubernetes, and an extension of X.509
    terms: ['certificate authority', 'certificate authorities', 'authority key identifier'],
  },
  { forms: ['way in', 'ways in'], instead: 'exposure strategy' },
  { forms: ['a pass', 'one pass', 'each pass', 'every pass', 'next pass', 'passes over'], instead: 'a reconcile' },
];

/** Phrases that make a text for users read as a translation. Comments may have them. */
export const avoidedPhrases: readonly AvoidedWord[] = [
  { forms: ['that of', 'those of'], instead: 'repeat the noun' },
  { forms: ['beside', 'besides'], instead: 'in addition to, in the background, next to' },
  { forms: ['go on', 'goes on', 'went on'], instead: 'continue' },
  { forms: ['serve on', 'serves on'], instead: 'keep serving' },
  { forms: ['in the way'], instead: 'block' },
  { forms: ['a person'], instead: 'user, administrator' },
  { forms: ['have to do with', 'has to do with', 'in earnest'], instead: 'plain English' },
  { forms: ['last words'], instead: 'termination message' },
  { forms: ['who'], instead: 'anyone who, or name the actor', startsClause: true },
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
  return usesIn(text, words);
}

/** The avoided words and phrases in a text for users. */
export function avoidedForUsersIn(text: string): AvoidedUse[] {
  return [...usesIn(text, words), ...usesIn(text, phrases)];
}

function usesIn(text: string, patterns: readonly Pattern[]): AvoidedUse[] {
  return patterns.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)]
      .filter(([, term]) => term === undefined)
      .map(({ index }) => ({ line: text.slice(0, index).split('\n').length, advice })),
  );
}

/** The words of a name in camelCase, PascalCase or kebab-case. */
export function wordsOf(name: string): string {
  return name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, ' ')
    .replaceAll(/[-_.]/g, ' ')
    .trim();
}

interface Pattern {
  /** Its first group is a term, which is not avoided. */
  readonly pattern: RegExp;
  readonly advice: string;
}

const [words, phrases] = [avoidedWords, avoidedPhrases].map((avoided) => avoided.flatMap(patternsOf)) as [
  Pattern[],
  Pattern[],
];

/** Names with dashes, such as certificate-authority, are one word. A line break counts as a space. */
function patternsOf({ forms, instead, terms = [], startsClause = false }: AvoidedWord): Pattern[] {
  const [before, after] = startsClause ? ['(?<=^|[.:;|]\\s+)', '(?=\\s+\\w)(?![^.:;|]*\\?)'] : ['', ''];
  return forms.map((form) => ({
    // A term is longer than its form, so that it has to be the first alternative.
    pattern: new RegExp(
      `\\b(${terms.map(spaced).join('|') || '(?!)'})\\b|${before}(?<![\\w-])${spaced(form)}(?![\\w-])${after}`,
      'gi',
    ),
    advice: `"${form}": ${instead}`,
  }));
}

function spaced(phrase: string): string {
  return phrase.replaceAll(' ', '\\s+');
}
