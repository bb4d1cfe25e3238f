import type { View } from '../../reconciler/cli/view.ts';

/** A view whose colours can be read: `<ok>Ready</ok>`. */
export const markedView: View = { width: undefined, paint: (meaning, text) => `<${meaning}>${text}</${meaning}>` };

/** A view of so many characters, without colours. */
export const narrowView = (width: number): View => ({ width, paint: (_, text) => text });
