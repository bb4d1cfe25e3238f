#!/usr/bin/env node
import { hcp } from './commands.ts';
import { runProgram } from './program.ts';

// Without await: the program that needs no Node is CommonJS, which has none at its top.
void runProgram(hcp);
