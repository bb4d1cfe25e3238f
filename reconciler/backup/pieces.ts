/** A piece of a stream and whether it is the last one. */
export interface Piece {
  /** Valid until its memory is used again, see {@link piecesOf}. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/**
 * The stream in pieces of exactly `size` bytes; the last one may be shorter, and is empty only when there was nothing at
 * all. Pieces take turns in the memory of `buffers` pieces, so with one a piece is gone when the next is asked for.
 */
export async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
  size: number,
  buffers: 1 | 3 = 1,
): AsyncGenerator<Piece> {
  const memory = Array.from({ length: buffers }, () => Buffer.allocUnsafe(size));
  const memoryOf = (number: number): Buffer => memory[number % buffers] as Buffer;
  let turn = 0;
  let filled = 0;
  for await (const chunk of source) {
    for (let taken = 0; taken < chunk.length;) {
      // a full piece waits for one more byte: only then is it known not to be the last
      if (filled === size) {
        yield { bytes: memoryOf(turn), isLast: false };
        turn += 1;
        filled = 0;
      }
      const part = chunk.subarray(taken, taken + size - filled);
      memoryOf(turn).set(part, filled);
      filled += part.length;
      taken += part.length;
    }
  }
  yield { bytes: memoryOf(turn).subarray(0, filled), isLast: true };
}
