#!/usr/bin/env node
import { hcp } from './commands.ts';
import { runProgram } from './program.ts';

await runProgram(hcp);
