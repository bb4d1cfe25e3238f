/** A text of at most this many bytes, cut between characters: half of one would be replaced, and could exceed the limit. */
export function truncated(text: string, longestBytes: number): string {
  if (Buffer.byteLength(text) <= longestBytes) return text;
  const ellipsis = '…';
  const room = longestBytes - Buffer.byteLength(ellipsis);
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    kept += character;
  }
  return kept + ellipsis;
}
