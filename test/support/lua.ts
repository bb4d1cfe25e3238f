import { createRequire } from 'node:module';

/** The part of the interpreter that is used here; the package has no types. */
interface Fengari {
  readonly lua: {
    readonly LUA_OK: number;
    lua_getfield(state: unknown, index: number, name: Uint8Array): void;
    lua_tostring(state: unknown, index: number): Uint8Array | null;
  };
  readonly lauxlib: {
    luaL_newstate(): unknown;
    luaL_dostring(state: unknown, code: Uint8Array): number;
  };
  readonly lualib: { luaL_openlibs(state: unknown): void };
  readonly to_luastring: (text: string) => Uint8Array;
  readonly to_jsstring: (text: Uint8Array) => string;
}

const { lua, lauxlib, lualib, to_jsstring, to_luastring } = createRequire(import.meta.url)('fengari') as Fengari;

/** Runs a script that returns a table; returns these fields of it. @throws with the message of the interpreter */
export function runLua<Field extends string>(code: string, fields: readonly Field[]): Record<Field, string> {
  const state = lauxlib.luaL_newstate();
  lualib.luaL_openlibs(state);
  const text = (): string => to_jsstring(lua.lua_tostring(state, -1) ?? to_luastring(''));
  if (lauxlib.luaL_dostring(state, to_luastring(code)) !== lua.LUA_OK) throw new Error(text());
  const values = fields.map((field) => {
    lua.lua_getfield(state, 1, to_luastring(field));
    return [field, text()];
  });
  return Object.fromEntries(values) as Record<Field, string>;
}

/** A value of JSON as a literal of Lua. */
export function luaLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{ ${value.map(luaLiteral).join(', ')} }`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  return `{ ${fields.map(([name, field]) => `[${JSON.stringify(name)}] = ${luaLiteral(field)}`).join(', ')} }`;
}
