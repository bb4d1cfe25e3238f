/**
 * What the image of a tenant runs in the place of kube-apiserver, kube-controller-manager and kube-scheduler. Probes are answered, so that
 * the operator believes in an API server and asks it. What else it answers is in the variable `ANSWERS`.
 */
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { basename } from 'node:path';
import { HostileApi } from '../../tools/bench/fleet/bombs.ts';
import { standInFiles } from './stand-in-files.ts';

const mebibyte = 1024 * 1024;
const metric = 'apiserver_encryption_config_controller_last_config_info';
const blanks = ' '.repeat(256 * 1024);
/** Lines that a pattern reads again from each of their labels. */
const metrics = `${metric}{${',hash="a"'.repeat(30_000)}\n${blanks}\n${metric}{hash="${blanks}`;

/** As large as the operator reads of any answer, and as small as it accepts. */
const bombs = [
  new HostileApi({ kinds: ['objects', 'arrays', 'labels'], bytes: 15.9 * mebibyte }),
  new HostileApi({ kinds: ['objects', 'arrays', 'labels', 'numbers', 'blanks', 'text', 'depth'] }),
] as const;

type Answer = (request: Http2ServerRequest, response: Http2ServerResponse) => void;

let turns = 0;
const answers: Readonly<Record<string, Answer>> = {
  bombs: (request, response) => bombs[turns++ % 2 === 0 ? 0 : 1].answer(request, response),
  nothing: (_, response) => void response.writeHead(503).end(),
};

const [, path = '', ...args] = process.argv;
const flags = new Map(args.map((arg) => arg.replace(/^--/, '').split('=', 2) as [string, string]));
const program = basename(path);
const { ANSWERS: kind = 'bombs' } = process.env;

const server = createSecureServer({
  allowHTTP1: true,
  cert: readFileSync(flags.get('tls-cert-file') ?? standInFiles.certificate),
  key: readFileSync(flags.get('tls-private-key-file') ?? standInFiles.key),
});
server.on('session', (session) => session.on('error', () => {}));
server.on('request', (request, response) => {
  const { pathname } = new URL(request.url, 'https://stand-in');
  if (/^\/(livez|healthz)/.test(pathname) || (pathname === '/readyz' && kind === 'bombs'))
    return void response.end('ok');
  if (pathname === '/metrics') return void response.end(metrics);
  (answers[kind] ?? answers['nothing'])?.(request, response);
});
const ports: Readonly<Record<string, number>> = { 'kube-controller-manager': 10257, 'kube-scheduler': 10259 };
server.listen(Number(flags.get('secure-port') ?? ports[program]));
process.once('SIGTERM', () => process.exit(0));
