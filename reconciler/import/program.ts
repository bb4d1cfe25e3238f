import type { Program } from '../cli/command.ts';

const group = 'Commands';

/** A program of its own, because a platform needs it once: `reconciler/cli` does not know it. */
export const hcpImport: Program = {
  name: 'hcp-import',
  summary: 'Moves control planes of other providers to this one.',
  commands: [
    {
      name: 'cluster',
      group,
      short: 'Move one of teutonet, k0smotron or Kamaji',
      load: async () => (await import('./commands.ts')).importControlPlane,
    },
    {
      name: 'delete-volumes',
      group,
      short: 'Delete the volumes that a move has kept',
      load: async () => (await import('./commands.ts')).deleteKeptVolumes,
    },
    {
      name: 'completion',
      group,
      short: 'Print the script that completes what you type',
      load: async () => (await import('../cli/completion.ts')).completionOf(hcpImport),
    },
  ],
};
