#!/usr/bin/env node
import { runProgram } from '../cli/program.ts';
import { hcpImport } from './program.ts';

// Without await: the program that needs no Node is CommonJS, which has none at its top.
void runProgram(hcpImport);
