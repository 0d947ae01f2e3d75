/**
 * The part of OpenTelemetry's API that is used here, and where its providers are found: in the registry
 * that every copy of `npm:@opentelemetry/api` shares, and that Deno fills with `OTEL_DENO=true`. It is a
 * property of the global object, so nothing is imported.
 * {@link https://github.com/open-telemetry/opentelemetry-js/blob/main/api/src/internal/global-utils.ts}
 *
 * @module
 */

/** Values of attributes. */
type AttributeValue = string | number | boolean;
/** Attributes of spans and measurements, by name. */
export type Attributes = Record<string, AttributeValue>;

/** Values that follow a thread of execution. */
export interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

/** One operation in a trace. */
export interface Span {
  setAttributes(attributes: Attributes): unknown;
  addEvent(name: string, attributes?: Attributes): unknown;
  setStatus(status: { readonly code: number; readonly message?: string }): unknown;
  end(): void;
}

/** Makes spans. */
export interface Tracer {
  startSpan(
    name: string,
    options: { readonly kind: number; readonly attributes: Attributes },
    context: Context,
  ): Span;
}

/** Takes measurements of times. */
export interface Histogram {
  record(value: number, attributes: Attributes, context?: Context): void;
}

/** Takes measurements of numbers that are added up. */
export interface Counter {
  add(value: number, attributes: Attributes, context?: Context): void;
}

/** Describes an instrument. */
export interface InstrumentOptions {
  readonly description: string;
  readonly unit: string;
  readonly advice?: { readonly explicitBucketBoundaries: number[] };
}

/** Makes instruments. */
export interface Meter {
  createHistogram(name: string, options: InstrumentOptions): Histogram;
  createCounter(name: string, options: InstrumentOptions): Counter;
  createUpDownCounter(name: string, options: InstrumentOptions): Counter;
}

/** Keeps the active context of each thread of execution. */
export interface ContextManager {
  active(): Context;
  with<T>(context: Context, body: () => T): T;
}

/** Reads header fields of a carrier. */
export interface Getter<Carrier> {
  keys(carrier: Carrier): string[];
  get(carrier: Carrier, key: string): string | undefined;
}

/** Writes header fields to a carrier. */
export interface Setter<Carrier> {
  set(carrier: Carrier, key: string, value: string): void;
}

/** Carries contexts in header fields. */
export interface Propagator {
  inject<Carrier>(context: Context, carrier: Carrier, setter: Setter<Carrier>): void;
  extract<Carrier>(context: Context, carrier: Carrier, getter: Getter<Carrier>): Context;
}

/** Providers as they are registered. */
export interface Registered {
  readonly trace?: { getTracer(name: string): Tracer };
  readonly metrics?: { getMeter(name: string): Meter };
  readonly context?: ContextManager;
  readonly propagation?: Propagator;
}

/** Kinds of spans. */
export const SpanKind = { SERVER: 1, CLIENT: 2 } as const;
/** Status of a span whose operation failed. */
export const STATUS_ERROR = 2;

/** Where the API, in its first major version, keeps what is registered. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");
/** The key of a context's span. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** Providers that are registered now; undefined if neither spans nor metrics have one. */
export function registered(): Registered | undefined {
  const found = (globalThis as { [REGISTRY]?: Registered })[REGISTRY];
  return found?.trace === undefined && found?.metrics === undefined ? undefined : found;
}

/** Whether a context has a span. */
export function hasSpan(context: Context): boolean {
  return context.getValue(SPAN) !== undefined;
}

/** The context in which a span is the active one. */
export function withSpan(context: Context, span: Span): Context {
  return context.setValue(SPAN, span);
}

/** A context, immutable. */
class Values implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new Values(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Context {
    const values = new Map(this.#values);
    values.delete(key);
    return new Values(values);
  }
}

/** The context without values. */
export const ROOT: Context = new Values(new Map());
