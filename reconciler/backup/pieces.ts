/** A piece of a stream and whether it is the last one. */
export interface Piece {
  /** Valid until the next piece is asked for, which comes in the same memory. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/**
 * The stream in pieces of exactly `size` bytes; the last one may be shorter, and is empty only when there was nothing at
 * all. Needs the memory of one piece, however long the stream is.
 */
export async function* piecesOf(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Piece> {
  const piece = Buffer.allocUnsafe(size);
  let filled = 0;
  for await (const chunk of source) {
    for (let taken = 0; taken < chunk.length;) {
      // a full piece waits for one more byte: only then is it known not to be the last
      if (filled === size) {
        yield { bytes: piece, isLast: false };
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
