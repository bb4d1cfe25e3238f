import { imagesOf } from '../../constructs/rendered-file.ts';
import { managerImage } from '../../constructs/provider/image.ts';
import type { Command } from './command.ts';
import { readFile } from './read-file.ts';
import { fileArgument } from './render.ts';

/** Lists what a mirror needs before a site without the internet orders a control plane, and before it restores one. */
export const images: Command = {
  name: 'images',
  examples: [
    ['images cluster.yaml', 'what a mirror needs for it'],
    ['images cluster.yaml | xargs -n1 crane pull', 'in a pipe'],
  ],
  usage: 'FILE',
  summary:
    'Prints every image that the control plane of a file runs in both clusters, also while it restores a backup, without a cluster.',
  options: {},
  access: [],
  prepare: (given) => (session) => Promise.resolve(images.offline?.(given)?.(session.terminal)),
  offline(given) {
    const path = fileArgument(given);
    return (terminal) => {
      const found = imagesOf(readFile(path));
      for (const image of found) terminal.print(image);
      if (found.includes(managerImage))
        terminal.info(`${managerImage} is the operator: its image has the name that your installation gives it`);
    };
  },
};
