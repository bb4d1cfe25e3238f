/**
 * A pattern of what a page shows: `…` stands for anything within a line that is different each time, and alone on a line for
 * lines that the page leaves out. Spaces between columns stand for any number of them.
 */
export function likeText(shown: string): RegExp {
  const given = shown.trim().split('\n');
  const goesOn = given.at(-1) === '…';
  const lines = goesOn ? given.slice(0, -1) : given;
  const patterns = lines.map((line) => {
    if (line.trim() === '…') return '[^]*?';
    return line
      .trim()
      .split('…')
      .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&').replaceAll(/ +/g, '\\s+'))
      .join('.+');
  });
  return new RegExp(`^\\s*${patterns.join('\\s*\\n\\s*')}${goesOn ? '' : '\\s*$'}`);
}
