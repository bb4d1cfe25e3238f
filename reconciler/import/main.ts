#!/usr/bin/env node
import { runProgram } from '../cli/program.ts';
import { hcpImport } from './commands.ts';

await runProgram(hcpImport);
