import { readFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import type { Plugin } from 'esbuild';

/**
 * Loads Node's own modules by `require`. An `import` of `node:http` reads everything that it exports, which loads a whole
 * second HTTP client, `fetch` and WebSockets.
 */
export const requiredBuiltins: Plugin = {
  name: 'required-builtins',
  setup: (bundling) => {
    bundling.onResolve({ filter: new RegExp(`^(node:.*|${builtinModules.join('|')})$`) }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin' } : undefined,
    );
    bundling.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
  },
};

/** What takes the place of files of packages of which our programs use a small part, by the end of their path. */
const replacements: Readonly<Record<string, string>> = {
  // besides the generated classes there are others, with libraries of their own
  'cdk8s-plus-30/lib/index.js': `exports.k8s = require('./imports/k8s.js');`,
  // our programs read kubeconfigs and forward ports by this library, and call no API: a model of every kind
  '@kubernetes/client-node/dist/gen/index.js': `export const createConfiguration = undefined, ServerConfiguration = undefined, AppsV1Api = undefined, CoreV1Api = undefined;`,
  '@kubernetes/client-node/dist/middleware.js': `export const setHeaderMiddleware = undefined;`,
  // messages in all languages
  'zod/v4/locales/index.js': `export { default as en } from './en.js';`,
};

/** Leaves out what our programs never use: source text and functions stay in memory although no call reaches them. */
export const usedParts: Plugin = {
  name: 'used-parts',
  setup: (bundling) => {
    for (const [file, contents] of Object.entries(replacements)) {
      const found = new RegExp(`/node_modules/${file.replaceAll('.', String.raw`\.`)}$`);
      bundling.onLoad({ filter: found }, () => ({ contents }));
    }
  },
};

/**
 * Each pool of undici begins with room for 2048 waiting requests, 16 KiB, and adds the same again when it is full. The operator
 * has two pools for each hosted cluster, in which few requests wait.
 */
export const smallQueues: Plugin = {
  name: 'small-queues',
  setup: (bundling) => {
    bundling.onLoad({ filter: /\/undici\/lib\/dispatcher\/fixed-queue\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace('const kSize = 2048', 'const kSize = 64');
      if (contents === source) throw new Error(`${path} has queues of another size than before`);
      return { contents };
    });
  },
};
