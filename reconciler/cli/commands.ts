import { backup } from './backup.ts';
import { backups } from './backups.ts';
import { certificates } from './certificates.ts';
import type { Command } from './command.ts';
import { collect } from './collect.ts';
import { completionOf } from './completion.ts';
import { diff } from './diff.ts';
import { hibernate, wake } from './hibernate.ts';
import { explain } from './explain.ts';
import { importControlPlane } from './import.ts';
import { kubeconfig } from './kubeconfig.ts';
import { list } from './list.ts';
import { move } from './move.ts';
import { pause, resume } from './pause.ts';
import { rebuild } from './rebuild.ts';
import { render } from './render.ts';
import { restore } from './restore.ts';
import { rollback } from './rollback.ts';
import { served } from './served.ts';
import { status } from './status.ts';
import { preflight } from './preflight.ts';

/** Every command, in the order of the help. A new command is a file in this directory and an entry here. */
export const commands: readonly Command[] = [
  list,
  status,
  explain,
  collect,
  backup,
  backups,
  served,
  restore,
  rebuild,
  move,
  preflight,
  rollback,
  importControlPlane,
  kubeconfig,
  certificates,
  hibernate,
  wake,
  pause,
  resume,
  render,
  diff,
  completionOf(() => commands),
];
