/**
 * OpenAPI documents of services: what JSON transcoding serves.
 * {@link https://spec.openapis.org/oas/v3.1.1}
 *
 * @module
 */
import type { DescField, DescFile, DescMethod, DescService } from "@bufbuild/protobuf";
import { checkOptions, optionNames } from "../../http/engine.ts";
import { Registrar } from "../server/registrar.ts";
import type { Binding } from "../transcoding/binding.ts";
import { bindingsOf } from "../transcoding/bindings.ts";
import { isHttpBody } from "../transcoding/body.ts";
import { type TranscodingOptions, transcodingSettings } from "../transcoding/options.ts";
import { commentOf } from "./comments.ts";
import { pathOf, queryOf } from "./parameters.ts";
import { type Json, Schemas } from "./schema.ts";

/** Options of {@linkcode openapi}. */
export interface OpenApiOptions {
  /** The document's `info`; `title` and `version` are its least. */
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly [name: string]: unknown;
  };
  /** Where the services are. @default none, which stands for the document's own origin */
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  /** Options that the services are mounted with: those of JSON show in the document. */
  readonly transcoding?: boolean | TranscodingOptions;
}

const OPTION_NAMES = optionNames<OpenApiOptions>({ info: true, servers: true, transcoding: true });

/** A document of OpenAPI 3.1, as JSON. */
export interface OpenApiDocument {
  /** Version of the format: 3.1.1. */
  readonly openapi: string;
  /** As it was given. */
  readonly info: Readonly<Record<string, unknown>>;
  /** As they were given. */
  readonly servers?: readonly Readonly<Record<string, unknown>>[];
  /** A tag for each service, by its full name. */
  readonly tags: readonly Readonly<Record<string, unknown>>[];
  /** Operations by path, and by method of HTTP in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Schemas by the full names of messages and enums. */
  readonly components: Readonly<Record<string, unknown>>;
}

/** Methods of HTTP that documents can tell of. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/**
 * Describes how services are called by HTTP and JSON: every method that has `google.api.http` options,
 * with the schemas of its messages, in an order that does not change. Comments are there where the
 * files were loaded with `sourceInfo`.
 *
 * Methods of HTTP that documents have no name for, such as those of custom patterns, are left out.
 *
 * @param source A registrar, or files and services.
 * @throws {TypeError} On wrong arguments.
 * @throws {HttpRuleError} If a rule is wrong.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { openapi } from "@sluice/sluice/grpc";
 * import { Loader } from "@sluice/sluice/protoc";
 *
 * const file = new Loader({ sourceInfo: true }).load(
 *   `syntax = "proto3";
 *    import "google/api/annotations.proto";
 *    service Shelves {
 *      // Gives a shelf.
 *      rpc Get (Shelf) returns (Shelf) { option (google.api.http).get = "/v1/{name=shelves/*}"; }
 *    }
 *    message Shelf { string name = 1; }`,
 *   "shelves.proto",
 * );
 * const document = openapi([file], { info: { title: "Shelves", version: "1" } });
 * assertEquals(Object.keys(document.paths), ["/v1/shelves/{shelf}"]);
 * ```
 */
export function openapi(
  source: Registrar | Iterable<DescFile | DescService>,
  options: OpenApiOptions,
): OpenApiDocument {
  checkOptions("make a document", OPTION_NAMES, options);
  const { info, servers } = options;
  if (typeof info?.title !== "string" || typeof info.version !== "string") {
    throw new TypeError("Cannot make a document as info must have title and version");
  }
  if (servers !== undefined && !Array.isArray(servers)) {
    throw new TypeError("Cannot make a document as servers must be a list");
  }
  const settings = transcodingSettings("make a document", options.transcoding ?? true) ??
    transcodingSettings("make a document", true)!;
  return new DocumentWriter(new Schemas(settings)).write(servicesOf(source), options);
}

function servicesOf(source: unknown): readonly DescService[] {
  if (source instanceof Registrar) return source.services;
  const isList = typeof source === "object" && source !== null && Symbol.iterator in source;
  return (isList ? [...source as Iterable<DescFile | DescService>] : [null]).flatMap((one) => {
    if (one?.kind === "service") return [one];
    if (one?.kind === "file") return one.services;
    throw new TypeError(
      "Cannot make a document: give a Registrar, or a list of loaded files and services",
    );
  });
}

class DocumentWriter {
  readonly #schemas: Schemas;
  readonly #paths = new Map<string, Map<string, Json>>();
  /** Paths by themselves without the names of their parameters. */
  readonly #shapes = new Map<string, string>();
  readonly #ids = new Set<string>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  write(
    services: readonly DescService[],
    { info, servers }: OpenApiOptions,
  ): OpenApiDocument {
    const tags: Json[] = [];
    for (const service of [...services].sort((a, b) => a.typeName < b.typeName ? -1 : 1)) {
      const bindings = bindingsOf(service);
      if (bindings.length === 0) continue;
      const description = commentOf(service);
      tags.push({ name: service.typeName, ...(description === "" ? {} : { description }) });
      const counts = new Map<DescMethod, number>();
      for (const binding of bindings) {
        const { desc } = binding.method;
        const count = (counts.get(desc) ?? 0) + 1;
        counts.set(desc, count);
        this.#add(binding, count);
      }
    }
    return {
      openapi: "3.1.1",
      info: { ...info },
      ...(servers === undefined ? {} : { servers: servers.map((one) => ({ ...one })) }),
      tags,
      paths: this.#sortedPaths(),
      components: { schemas: this.#schemas.all() },
    };
  }

  #sortedPaths(): OpenApiDocument["paths"] {
    const paths = [...this.#paths].sort(([a], [b]) => a < b ? -1 : 1);
    return Object.fromEntries(paths.map(([path, operations]) => [
      path,
      Object.fromEntries(
        METHODS.filter((method) => operations.has(method))
          .map((method) => [method, operations.get(method)]),
      ),
    ]));
  }

  /** Adds the `count`th binding of its method. The first of those that look the same stays. */
  #add(binding: Binding, count: number): void {
    const method = binding.verb.toLowerCase();
    if (!METHODS.includes(method)) return;
    const { path, parameters } = pathOf(binding, this.#schemas);
    const key = this.#keyOf(path);
    const operations = this.#paths.get(key) ?? new Map<string, Json>();
    if (operations.has(method)) return;
    this.#paths.set(key, operations);
    operations.set(method, this.#operation(binding, renamed(parameters, path, key), count));
  }

  /** The path that differs in the names of parameters only, if there is one: both are the same to readers. */
  #keyOf(path: string): string {
    const shape = path.replace(/\{[^}]*\}/g, "{}");
    const known = this.#shapes.get(shape);
    if (known === undefined) this.#shapes.set(shape, path);
    return known ?? path;
  }

  #operation(binding: Binding, path: readonly Json[], count: number): Json {
    const { desc } = binding.method;
    const comment = commentOf(desc);
    const [first = ""] = comment.split("\n\n");
    const summary = first.replaceAll("\n", " ");
    const parameters = [...path, ...queryOf(binding, this.#schemas)];
    const body = this.#requestBody(binding);
    return {
      operationId: this.#id(desc, count),
      tags: [desc.parent.typeName],
      ...(summary !== "" && summary.length <= 120 ? { summary } : {}),
      ...(comment !== "" && comment !== summary ? { description: comment } : {}),
      ...(desc.deprecated ? { deprecated: true } : {}),
      ...(parameters.length > 0 ? { parameters } : {}),
      ...(body === null ? {} : { requestBody: body }),
      responses: {
        200: this.#response(binding),
        default: {
          description: "The call failed.",
          content: { "application/json": { schema: this.#schemas.status() } },
        },
      },
    };
  }

  #id({ name, parent }: DescMethod, count: number): string {
    const suffix = count === 1 ? "" : String(count);
    const short = `${parent.name}_${name}${suffix}`;
    const id = this.#ids.has(short)
      ? `${parent.typeName.replaceAll(".", "_")}_${name}${suffix}`
      : short;
    this.#ids.add(id);
    return id;
  }

  #requestBody({ method, body, variables }: Binding): Json | null {
    if (body.kind === "none") return null;
    const { input } = method.desc;
    const held = body.kind === "field" ? body.field.message : input;
    const isWhole = body.kind === "message" || body.field.fieldKind === "message";
    if (isWhole && isHttpBody(held)) {
      return { content: { "*/*": { schema: {} } } };
    }
    const schema = body.kind === "field"
      ? this.#schemas.field(body.field)
      : this.#withoutPath(variables.filter(({ fields }) => fields.length === 1), input);
    // Not required: a request without a body is one whose fields are not set.
    return {
      content: method.clientStreams
        ? { "application/x-ndjson": lines(schema) }
        : { "application/json": { schema } },
    };
  }

  /** The schema of a request whose fields may stand in the path instead. */
  #withoutPath(
    variables: readonly { readonly fields: readonly DescField[] }[],
    input: DescMethod["input"],
  ): Json {
    if (variables.length === 0) return this.#schemas.message(input);
    return this.#schemas.object(input, new Set(variables.map(({ fields }) => fields[0]!)));
  }

  #response({ method, responseField }: Binding): Json {
    const { output } = method.desc;
    const description = commentOf(output) || "The call succeeded.";
    const held = responseField === null ? output : responseField.message;
    const isWhole = responseField === null || responseField.fieldKind === "message";
    if (isWhole && isHttpBody(held)) return { description, content: { "*/*": { schema: {} } } };
    const schema = responseField === null
      ? this.#schemas.message(output)
      : this.#schemas.field(responseField);
    if (!method.serverStreams) return { description, content: { "application/json": { schema } } };
    return {
      description,
      content: {
        "application/x-ndjson": lines({
          oneOf: [
            { type: "object", properties: { result: schema }, required: ["result"] },
            {
              type: "object",
              properties: { error: this.#schemas.status() },
              required: ["error"],
            },
          ],
        }),
        "text/event-stream": {
          schema: {
            type: "string",
            description: "Events with JSON as data; `error` and `end` at the end.",
          },
          "x-item-schema": schema,
        },
      },
    };
  }
}

/** Lines of JSON, each of which fits the schema. */
function lines(schema: Json): Json {
  return {
    schema: { type: "string", description: "Lines of JSON, each as `x-item-schema` says." },
    "x-item-schema": schema,
  };
}

/** Parameters of a path under the names that another path of the same shape gave them. */
function renamed(parameters: readonly Json[], path: string, key: string): readonly Json[] {
  if (path === key) return parameters;
  const names = [...key.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
  return parameters.map((parameter, i) => ({ ...parameter, name: names[i] }));
}
