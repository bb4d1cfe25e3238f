/** A piece of a stream, and whether it is the last one. */
interface Piece {
  /** Valid until its memory is reused, see {@link piecesOf}. */
  readonly bytes: Buffer;
  readonly isLast: boolean;
}

/**
 * The stream in pieces of exactly `size` bytes. The last one may be shorter, and is empty only for an empty stream.
 * Pieces share the memory of `buffers` pieces in turn, so with one buffer a piece is invalid once the next one is
 * requested.
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
      // A full piece waits for one more byte, which shows that it is not the last one.
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
