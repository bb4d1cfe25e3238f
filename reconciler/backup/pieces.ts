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
  buffers: 1 | 2 = 1,
): AsyncGenerator<Piece> {
  let piece = Buffer.allocUnsafe(size);
  let other = buffers === 1 ? piece : Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of source) {
    for (let taken = 0; taken < chunk.length;) {
      // a full piece waits for one more byte: only then is it known not to be the last
      if (filled === size) {
        yield { bytes: piece, isLast: false };
        [piece, other] = [other, piece];
        filled = 0;
      }
      const part = chunk.subarray(taken, taken + size - filled);
      piece.set(part, filled);
      filled += part.length;
      taken += part.length;
    }
  }
  yield { bytes: piece.subarray(0, filled), isLast: true };
}
