import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveHealth } from '../../../reconciler/operator/health.ts';

const health = { isAlive: true, isReady: true };
let server: Server;
beforeAll(async () => {
  server = await serveHealth(0, health);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const port = () => (server.address() as AddressInfo).port;

it.each<[string, Partial<typeof health>, number]>([
  ['/healthz', {}, 200],
  ['/healthz', { isReady: false }, 200],
  ['/healthz', { isAlive: false }, 503],
  ['/readyz', {}, 200],
  ['/readyz', { isAlive: false }, 200],
  ['/readyz', { isReady: false }, 503],
  ['/metrics', {}, 404],
])('answers %s of %o with %d', async (path, changes, status) => {
  Object.assign(health, { isAlive: true, isReady: true, ...changes });
  const response = await fetch(`http://127.0.0.1:${port()}${path}`);
  expect(response.status).toBe(status);
  await response.text();
});

it('refuses a port that is taken', async () => {
  await expect(serveHealth(port(), health)).rejects.toThrow('EADDRINUSE');
});
