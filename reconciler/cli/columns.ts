/** Rows as lines of a table: every column as wide as its longest text, three spaces between, nothing behind the last. */
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
