import { createHash } from 'node:crypto';

/** Maximum number of answers of each kind: enough for a thousand clusters. */
const maxAnswers = 20_000;

/** Of the questions beyond the maximum, each of so many displaces the oldest one. */
const displacing = 16;

/**
 * Caches answers, because certificates take long to parse and signatures to verify. The cache contains only hashes of
 * the texts, some of which are private keys. Beyond the maximum most of the known answers stay: control planes ask in turns, and if each
 * question displaced another, all would be gone when their turn comes again.
 */
export function remembered<Texts extends readonly string[], Answer extends boolean | string | object>(
  ask: (...texts: Texts) => Answer,
  max = maxAnswers,
): (...texts: Texts) => Answer {
  const answers = new Map<string, Answer>();
  let unknown = 0;
  return (...texts) => {
    const question = createHash('sha256').update(texts.join('\0')).digest('base64');
    const known = answers.get(question);
    if (known !== undefined) return known;
    const answer = ask(...texts);
    if (answers.size < max) answers.set(question, answer);
    else if (++unknown % displacing === 0) {
      answers.delete(answers.keys().next().value ?? '');
      answers.set(question, answer);
    }
    return answer;
  };
}
