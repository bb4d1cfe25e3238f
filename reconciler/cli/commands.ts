import { backup } from './backup.ts';
import { backups } from './backups.ts';
import type { Command, Program } from './command.ts';
import { collect } from './collect.ts';
import { completionOf } from './completion.ts';
import { diff } from './diff.ts';
import { hibernate, wake } from './hibernate.ts';
import { kubeconfig } from './kubeconfig.ts';
import { list } from './list.ts';
import { move } from './move.ts';
import { pause, resume } from './pause.ts';
import { rebuild } from './rebuild.ts';
import { render } from './render.ts';
import { restore } from './restore.ts';
import { report } from './report.ts';
import { rollback } from './rollback.ts';
import { status } from './status.ts';
import { preflight } from './preflight.ts';

/** Every command of `hcp`, in the order of the help. A new command is a file in this directory and an entry here. */
export const commands: readonly Command[] = [
  list,
  status,
  report,
  collect,
  backup,
  backups,
  restore,
  rebuild,
  move,
  preflight,
  rollback,
  kubeconfig,
  hibernate,
  wake,
  pause,
  resume,
  render,
  diff,
  completionOf(() => hcp),
];

/** The command line of people on call. */
export const hcp: Program = { name: 'hcp', summary: 'Manages hosted control planes.', commands };
