import { backup } from './backup.ts';
import { backups } from './backups.ts';
import { certificates } from './certificates.ts';
import type { Command } from './command.ts';
import { kubeconfig } from './kubeconfig.ts';
import { rebuild } from './rebuild.ts';
import { restore } from './restore.ts';

/** Every command, in the order help lists them. A new one is a file beside these and a line here. */
export const commands: readonly Command[] = [backup, backups, restore, rebuild, kubeconfig, certificates];
