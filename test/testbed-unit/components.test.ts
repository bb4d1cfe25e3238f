import { expect, test } from 'vitest';
import { substitute } from '../testbed/components.ts';

test('a variable of the components has its default unless a value is given', () => {
  const flags = '--feature-gates=A=${GATE_A:=true},B=${GATE_B:=false} --address=${ADDRESS:=:8443}';
  expect(substitute(flags, { GATE_B: 'true' })).toBe('--feature-gates=A=true,B=true --address=:8443');
});
