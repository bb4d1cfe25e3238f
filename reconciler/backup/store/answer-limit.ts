import { Readable } from 'node:stream';

/**
 * Most bytes of an answer that is kept in memory. A list of a thousand keys of the maximum length has 1.5 MB; every
 * other answer is far shorter.
 */
export const longestAnswerBytes = 2 << 20;

/** Time in which such an answer ends. A server that sends a byte now and then would never end a task. */
export const longestAnswerMs = 120_000;

/** The parser of the S3 client goes through the whole text for each of these, of which XML has one at most. */
const declaration = '<!doctype';
const mostDeclarations = 3;

/** It also takes a microsecond and a hundred bytes for each character of one text. A key has 1024 bytes, a session token some thousand. */
const longestTextBytes = 64 << 10;

/** A server sent more than any answer has, or never ended it. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** The same stream. It fails, and closes the connection behind it, at the first byte or moment above the limits. */
async function* limitedAnswer(
  source: AsyncIterable<Uint8Array>,
  { bytes = longestAnswerBytes, ms = longestAnswerMs }: { readonly bytes?: number; readonly ms?: number } = {},
): AsyncGenerator<Uint8Array> {
  const end = performance.now() + ms;
  let [length, declarations, last, textLength] = [0, 0, '', 0];
  // Leaving the loop closes the source.
  for await (const chunk of source) {
    length += chunk.length;
    if (length > bytes || performance.now() > end) throw new AnswerTooLong('the answer does not end');
    const text = last + Buffer.from(chunk).toString('latin1').toLowerCase();
    declarations += text.split(declaration).length - 1;
    const bracket = text.lastIndexOf('<');
    textLength = bracket === -1 ? textLength + chunk.length : text.length - bracket;
    if (declarations > mostDeclarations || textLength > longestTextBytes)
      throw new AnswerTooLong('the answer is no XML of a store');
    last = text.slice(1 - declaration.length);
    yield chunk;
  }
}

/** The same as a stream of Node.js. */
export function limitedReadable(source: Readable): Readable {
  return Readable.from(limitedAnswer(source), { objectMode: false });
}

/** The text of an answer. @throws AnswerTooLong */
export async function limitedText(source: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitedAnswer(source ?? Readable.from([]))) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
