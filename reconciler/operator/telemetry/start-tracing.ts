import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';

/** Sends the spans of this process to a collector. */
export interface Tracing {
  /** Sends what is left, and ends. */
  stop(): Promise<void>;
}

/** How long a batch may take, also the last one, for which the process waits before it ends. */
const exportMs = 3000;

/**
 * Starts tracing. Its libraries are loaded only now, so that an operator without traces does not have them in memory.
 * @param endpoint URL of a collector that takes traces by OTLP over HTTP, such as `http://collector:4318/v1/traces`
 * @param onError gets what prevents spans from being sent; nothing else fails because of it
 */
export async function startTracing(endpoint: string, onError: (message: string) => void): Promise<Tracing> {
  const [
    { AsyncLocalStorageContextManager },
    { W3CTraceContextPropagator },
    exporter,
    { resourceFromAttributes },
    sdk,
  ] = await Promise.all([
    import('@opentelemetry/context-async-hooks'),
    import('@opentelemetry/core'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'hosted-control-plane' }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter: new exporter.OTLPTraceExporter({ url: endpoint, timeoutMillis: exportMs }),
      }),
    ],
  });
  const ignore = (): void => {};
  const report = (message: string): void => onError(`${endpoint}: ${message}`);
  diag.setLogger({ error: report, warn: report, info: ignore, debug: ignore, verbose: ignore }, DiagLogLevel.WARN);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  return {
    async stop() {
      await provider.shutdown().catch((error: unknown) => report(String(error)));
      for (const api of [context, propagation, trace, diag]) api.disable();
    },
  };
}
