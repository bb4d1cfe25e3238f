import { AsyncLocalStorage } from 'node:async_hooks';
import packageManifest from '../../package.json' with { type: 'json' };
import { type Attributes, context, propagation, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api';

/** Adds attributes to a span while it lasts: names of objects and constants, never content of objects. */
export type Note = (attributes: Attributes) => void;

const steps = new AsyncLocalStorage<() => void>();

/** Does some work, and calls back whenever a step of it, which is a span, begins or ends, also without `startTracing`. */
export function withSteps<T>(onStep: () => void, work: () => Promise<T>): Promise<T> {
  return steps.run(onStep, work);
}

/**
 * Does some work in a span of the trace that is going on, or of a new one. The span fails with the work. Without
 * `startTracing` there are no spans, and this only does the work.
 */
export function inSpan<T>(name: string, attributes: Attributes, work: (note: Note) => Promise<T>): Promise<T> {
  const onStep = steps.getStore();
  onStep?.();
  return trace.getTracer(packageManifest.name).startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work((more) => void span.setAttributes(more));
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
      throw error;
    } finally {
      span.end();
      onStep?.();
    }
  });
}

/**
 * Begins work that goes on after the span in which it begins, such as a watch, and whatever that causes. Its spans are traces of
 * their own: else each reconcile would be a part of the one before, for as long as the operator runs. They are no steps of it, either.
 */
export function detached<T>(begin: () => T): T {
  return steps.exit(() => context.with(ROOT_CONTEXT, begin));
}

/** Headers by which a server continues the trace that is going on, as W3C defines them; none without one. */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}
