import { styleText } from 'node:util';

/** What a painted text is to the one who reads it. A terminal chooses the colour. */
type Meaning = 'ok' | 'off' | 'waits' | 'ignored' | 'fails' | 'unknown' | 'heading';

/** Marks a text by its meaning. */
export type Paint = (meaning: Meaning, text: string) => string;

/** How texts for a person are laid out. What programs read takes none. */
export interface View {
  /** Characters in a line; undefined when no line is wrapped or cut. */
  readonly width: number | undefined;
  readonly paint: Paint;
}

/** The view of a file or a pipe: nothing is painted, wrapped or cut. */
export const plainView: View = { width: undefined, paint: (_, text) => text };

const styles = {
  ok: 'green',
  off: 'dim',
  waits: 'yellow',
  ignored: 'yellow',
  fails: 'red',
  unknown: 'dim',
  heading: 'bold',
} as const satisfies Readonly<Record<Meaning, string>>;

/**
 * Paints for a stream: with colours if it is a terminal that has them. FORCE_COLOR, NO_COLOR, NODE_DISABLE_COLORS and TERM
 * decide otherwise, which Node reads.
 */
export function paintFor(stream: NodeJS.WritableStream): Paint {
  return (meaning, text) => (text === '' ? '' : styleText(styles[meaning], text, { stream }));
}

/** Characters in a line of a stream; undefined when it is no terminal, or one that does not know. */
export function widthFor(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number | undefined {
  return stream.isTTY ? stream.columns || undefined : undefined;
}
