/**
 * Spans, measurements and carried contexts by OpenTelemetry's API. Whatever a provider throws is printed
 * once, and hurts no call.
 *
 * @module
 */
import { isToken } from "../message/headers.ts";
import { checkOptions, optionNames, shownValue } from "../message/options.ts";
import { tellError } from "../message/tell.ts";
import {
  type Attributes,
  type Context,
  type ContextManager,
  type Counter,
  type Getter,
  hasSpan,
  type Histogram,
  type InstrumentOptions,
  type Meter,
  type Propagator,
  type Registered,
  registered,
  ROOT,
  type Setter,
  type Span,
  STATUS_ERROR,
  type Tracer,
  withSpan,
} from "./api.ts";

/** Makers of spans and of measurements, in place of the registered ones. */
export interface TelemetryOptions {
  /**
   * Makes the spans: a `Tracer` of OpenTelemetry's API. Null: there are none, and contexts are carried
   * on as they come.
   *
   * @default that of the registered provider
   */
  readonly tracer?:
    | { startSpan(name: string, options?: object, context?: object): object }
    | null;
  /**
   * Makes the instruments: a `Meter` of OpenTelemetry's API. Null: nothing is measured.
   *
   * @default that of the registered provider
   */
  readonly meter?: {
    createHistogram(name: string, options?: object): object;
    createCounter(name: string, options?: object): object;
    createUpDownCounter(name: string, options?: object): object;
  } | null;
}

/** Names of {@linkcode TelemetryOptions}. */
const TELEMETRY_NAMES: readonly string[] = optionNames<TelemetryOptions>({
  tracer: true,
  meter: true,
});

/** Name of tracers and meters. */
const SCOPE = "@sluice/sluice";

/** Bytes of a field that carries a context: W3C's limit for baggage. Longer ones are passed over. */
const MAX_CARRIED_BYTES = 8192;
/** Fields that a context is carried in at most. */
const MAX_CARRIED_FIELDS = 16;
/** Characters of an attribute that a peer chose; longer ones are cut. */
const MAX_ATTRIBUTE_CHARS = 1024;

/** Seconds that bound the buckets of durations: what the conventions for HTTP and RPC advise. */
export const DURATION_BUCKETS: readonly number[] = [
  ...[0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
];

/** Where a context keeps the tracestate it came with: trace id and value. */
const CAME_WITH = Symbol("tracestate");

/** Fields in a flat list: names in lower case, each with its value. */
type Fields = readonly string[];

/** Reads carried fields. One that stands twice is a list (RFC 9110 §5.3). */
const getter: Getter<Fields> = {
  keys: (fields) => [...new Set(fields.filter((_, i) => i % 2 === 0))],
  get(fields, key) {
    const name = key.toLowerCase();
    let value: string | undefined;
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== name) continue;
      value = value === undefined ? fields[i + 1]! : `${value},${fields[i + 1]}`;
      if (value.length > MAX_CARRIED_BYTES) return undefined;
    }
    return value;
  },
};

/** Writes fields that can be sent; others, which a provider may have from a peer, are left out. */
const setter: Setter<string[]> = {
  set(fields, key, value) {
    const name = String(key).toLowerCase();
    if (!isToken(name) || typeof value !== "string" || value.length > MAX_CARRIED_BYTES) return;
    if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return;
    if (fields.length < 2 * MAX_CARRIED_FIELDS) fields.push(name, value);
  },
};

/** The trace id in a traceparent, or "". */
function traceOf(traceparent: string | undefined): string {
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? "")?.[1] ?? "";
}

/** Text of a peer as an attribute may have it. */
export function attributeText(text: string): string {
  return text.length > MAX_ATTRIBUTE_CHARS ? text.slice(0, MAX_ATTRIBUTE_CHARS) : text;
}

/** Fields with others in place of those of the same names. */
export function withFields(fields: Fields, carried: Fields): string[] {
  const merged: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    if (!isCarried(carried, fields[i]!)) merged.push(fields[i]!, fields[i + 1]!);
  }
  merged.push(...carried);
  return merged;
}

function isCarried(carried: Fields, name: string): boolean {
  for (let i = 0; i < carried.length; i += 2) if (carried[i] === name) return true;
  return false;
}

/** Why an operation failed. */
export interface Failure {
  /** `error.type`: a status, or the name of an error's class; one of few. */
  readonly type: string;
  /** Text for those who read the trace. */
  readonly message?: string;
}

/** The failure that an error is. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { type: "_OTHER" };
  const { name, message } = error;
  return {
    type: typeof name === "string" && /^\w{1,64}$/.test(name) ? name : "_OTHER",
    message: attributeText(String(message)),
  };
}

/** An instrument, made when it is first needed and there is a meter. */
class Instrument<I> {
  readonly #make: () => I | null;
  #made: I | null = null;

  constructor(make: () => I | null) {
    this.#make = make;
  }

  get made(): I | null {
    return this.#made ??= this.#make();
  }
}

/** See the module. */
export class Telemetry {
  readonly #given: { readonly tracer?: Tracer | null; readonly meter?: Meter | null };
  #registered: Registered | undefined;
  #tracer: Tracer | null = null;
  #meter: Meter | null = null;
  #failed = false;
  readonly #instruments = new Map<string, Instrument<unknown>>();

  constructor(options: TelemetryOptions = {}) {
    // Their types are the API's, which is what `TelemetryOptions` stands for.
    this.#given = options as { readonly tracer?: Tracer | null; readonly meter?: Meter | null };
  }

  /** The registered providers, looked for until there is something. */
  get #api(): Registered | undefined {
    return this.#registered ??= registered();
  }

  get #contexts(): ContextManager | undefined {
    return this.#api?.context;
  }

  get #propagator(): Propagator | undefined {
    return this.#api?.propagation;
  }

  #tracerNow(): Tracer | null {
    const { tracer } = this.#given;
    if (tracer !== undefined) return tracer;
    return this.#tracer ??= this.#api?.trace?.getTracer(SCOPE) ?? null;
  }

  #meterNow(): Meter | null {
    const { meter } = this.#given;
    if (meter !== undefined) return meter;
    return this.#meter ??= this.#api?.metrics?.getMeter(SCOPE) ?? null;
  }

  /** The result of `work`, or undefined if it throws. */
  try<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      // One line tells as much as one a call.
      if (!this.#failed) tellError(undefined, "OpenTelemetry's provider failed", error);
      this.#failed = true;
      return undefined;
    }
  }

  /** The context that is active here. */
  active(): Context {
    return this.try(() => this.#contexts?.active()) ?? ROOT;
  }

  /** Whether a span is active here. */
  get traced(): boolean {
    return this.try(() => hasSpan(this.active())) === true;
  }

  /** The context that came in the fields of a request. */
  received(fields: Fields): Context {
    return this.try(() => {
      const context = this.#propagator?.extract(ROOT, fields, getter);
      const state = getter.get(fields, "tracestate");
      if (context === undefined || state === undefined) return context;
      const trace = traceOf(getter.get(fields, "traceparent"));
      return context.setValue(CAME_WITH, { trace, state });
    }) ?? ROOT;
  }

  /** Starts to follow an operation. */
  begin(name: string, kind: number, attributes: Attributes, parent: Context): Operation {
    let span: Span | null = null;
    let context = parent;
    this.try(() => {
      span = this.#tracerNow()?.startSpan(name, { kind, attributes }, parent) ?? null;
      if (span !== null) context = withSpan(parent, span);
    });
    return new Operation(this, span, context);
  }

  /** The fields that carry a context. */
  carried(context: Context): string[] {
    const fields: string[] = [];
    this.try(() => {
      this.#propagator?.inject(context, fields, setter);
      // Deno's own spans forget it, which W3C has travel with its trace.
      const came = context.getValue(CAME_WITH) as { trace: string; state: string } | undefined;
      if (came === undefined || getter.get(fields, "tracestate") !== undefined) return;
      const trace = traceOf(getter.get(fields, "traceparent"));
      if (trace !== "" && trace === came.trace) setter.set(fields, "tracestate", came.state);
    });
    return fields;
  }

  /** Runs `body` with `context` active in it and in all that it starts. */
  run<T>(context: Context, body: () => T): T {
    const contexts = this.#contexts;
    if (contexts === undefined) return body();
    let outcome: { readonly value: T } | { readonly error: unknown } | null = null;
    this.try(() =>
      contexts.with(context, () => {
        if (outcome !== null) return;
        try {
          outcome = { value: body() };
        } catch (error) {
          outcome = { error };
        }
      })
    );
    // Assigned in a function: the compiler does not see it.
    const ended = outcome as { readonly value: T } | { readonly error: unknown } | null;
    if (ended === null) return body();
    if ("error" in ended) throw ended.error;
    return ended.value;
  }

  /** Records a time in seconds. */
  record(
    name: string,
    options: InstrumentOptions,
    seconds: number,
    attributes: Attributes,
    context: Context,
  ): void {
    this.try(() => {
      const made = this.#instrument<Histogram>(
        name,
        (meter) => meter.createHistogram(name, options),
      );
      made?.record(seconds, attributes, context);
    });
  }

  /** Adds to a count that only grows. */
  count(name: string, options: InstrumentOptions, n: number, attributes: Attributes): void {
    this.try(() => {
      this.#instrument<Counter>(name, (meter) => meter.createCounter(name, options))
        ?.add(n, attributes);
    });
  }

  /** Adds to a count that goes up and down. */
  shift(name: string, options: InstrumentOptions, n: number, attributes: Attributes): void {
    this.try(() => {
      this.#instrument<Counter>(name, (meter) => meter.createUpDownCounter(name, options))
        ?.add(n, attributes);
    });
  }

  #instrument<I>(name: string, make: (meter: Meter) => I): I | null {
    let instrument = this.#instruments.get(name);
    if (instrument === undefined) {
      instrument = new Instrument(() => {
        const meter = this.#meterNow();
        return meter === null ? null : make(meter);
      });
      this.#instruments.set(name, instrument);
    }
    return instrument.made as I | null;
  }
}

/** An operation that is followed: its span, and the context of all that belongs to it. */
export class Operation {
  /** The context of what belongs to it. */
  readonly context: Context;
  readonly #telemetry: Telemetry;
  readonly #span: Span | null;

  constructor(telemetry: Telemetry, span: Span | null, context: Context) {
    this.#telemetry = telemetry;
    this.#span = span;
    this.context = context;
  }

  /** Runs what belongs to it: spans that begin there are its children. */
  run<T>(body: () => T): T {
    return this.#telemetry.run(this.context, body);
  }

  /** The fields that carry its context to a server. */
  get carried(): string[] {
    return this.#telemetry.carried(this.context);
  }

  /** Tells of something that happened meanwhile. */
  event(name: string, attributes: Attributes): void {
    this.#telemetry.try(() => this.#span?.addEvent(name, attributes));
  }

  /** It is over, and failed unless `failure` is null. */
  end(attributes: Attributes, failure: Failure | null): void {
    this.#telemetry.try(() => {
      const span = this.#span;
      if (span === null) return;
      span.setAttributes(attributes);
      if (failure !== null) {
        span.setStatus({
          code: STATUS_ERROR,
          ...(failure.message === undefined ? {} : { message: failure.message }),
        });
      }
    });
    this.#telemetry.try(() => this.#span?.end());
  }
}

/** The one of all who go by what is registered, as long as that is the same. */
let shared: { readonly of: unknown; readonly telemetry: Telemetry } | null = null;

/**
 * The telemetry that an option asks for; null: none. Not given, there is one if a provider is
 * registered now.
 *
 * @throws {TypeError} If the option is none.
 */
export function telemetryOf(
  what: string,
  option: boolean | TelemetryOptions | undefined,
  names: readonly string[] = TELEMETRY_NAMES,
): Telemetry | null {
  if (option === false) return null;
  if (option === undefined || option === true) {
    const api = registered();
    if (api === undefined) return option === true ? new Telemetry() : null;
    const of = api.trace ?? api.metrics;
    if (shared?.of !== of) shared = { of, telemetry: new Telemetry() };
    return shared!.telemetry;
  }
  checkTelemetry(what, option, names);
  const { tracer, meter } = option;
  return tracer === undefined && meter === undefined
    ? telemetryOf(what, true)
    : new Telemetry(option);
}

/**
 * Checks the option `telemetry`, if it is given.
 *
 * @throws {TypeError} If it is neither a boolean nor options that can be used.
 */
export function checkTelemetry(
  what: string,
  option: unknown,
  names: readonly string[] = TELEMETRY_NAMES,
): void {
  if (option === undefined || typeof option === "boolean") return;
  if (typeof option !== "object" || option === null) {
    throw new TypeError(
      `Cannot ${what} as telemetry must be a boolean or options: current value is ${
        shownValue(option)
      }`,
    );
  }
  checkOptions(`${what} with telemetry`, names, option);
  const { tracer, meter } = option as TelemetryOptions;
  checkMaker(what, "tracer", tracer, ["startSpan"]);
  checkMaker(what, "meter", meter, ["createHistogram", "createCounter", "createUpDownCounter"]);
}

function checkMaker(what: string, name: string, value: unknown, methods: readonly string[]): void {
  if (value === undefined || value === null) return;
  const missing = methods.find((method) =>
    typeof (value as Record<string, unknown>)[method] !== "function"
  );
  if (missing === undefined) return;
  throw new TypeError(
    `Cannot ${what} as telemetry.${name} must be a ${name} of OpenTelemetry's API: it has no ${missing}`,
  );
}
