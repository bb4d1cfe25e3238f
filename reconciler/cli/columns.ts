/**
 * Rows as lines of a table. Every column is as wide as its longest text, with three spaces between columns and no
 * trailing spaces.
 */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, text] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, text.length);
  }
  return rows.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('   ')
      .trimEnd(),
  );
}
