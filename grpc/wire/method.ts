import type { DescFile, DescMethod, DescService } from "@bufbuild/protobuf";
import { type Codec, codecFor } from "../codec/mod.ts";

/** A method with what calls of it need again and again. */
export class Method {
  readonly desc: DescMethod;
  /** `/package.Service/Method`, case-sensitive. */
  readonly path: string;
  /** Whether the client sends any number of messages. */
  readonly clientStreams: boolean;
  /** Whether the server sends any number of messages. */
  readonly serverStreams: boolean;
  #input: Codec | null = null;
  #output: Codec | null = null;

  constructor(desc: DescMethod) {
    this.desc = desc;
    this.path = `/${desc.parent.typeName}/${desc.name}`;
    this.clientStreams = desc.methodKind === "client_streaming" ||
      desc.methodKind === "bidi_streaming";
    this.serverStreams = desc.methodKind === "server_streaming" ||
      desc.methodKind === "bidi_streaming";
  }

  /** Codec of the request message, compiled on first use. */
  get input(): Codec {
    return this.#input ??= codecFor(this.desc.input);
  }

  /** Codec of the response message, compiled on first use. */
  get output(): Codec {
    return this.#output ??= codecFor(this.desc.output);
  }
}

const methods = new WeakMap<DescMethod, Method>();

/** The one {@linkcode Method} of a descriptor. */
export function methodFor(desc: DescMethod): Method {
  let method = methods.get(desc);
  if (method === undefined) methods.set(desc, method = new Method(desc));
  return method;
}

/**
 * The service meant by a file and a name, or by a service itself. The name may be short or full.
 * Throws `TypeError` naming what there is.
 */
export function findService(proto: DescFile | DescService, name?: string): DescService {
  if (proto?.kind === "service") {
    if (name === undefined || name === proto.name || name === proto.typeName) return proto;
    throw new TypeError(`Cannot find service "${name}": this one is "${proto.typeName}"`);
  }
  if (proto?.kind !== "file") {
    throw new TypeError(
      "Cannot find service: expected a loaded proto file (Loader.load() gives one) or a service descriptor",
    );
  }
  const services = proto.services;
  const names = services.map((service) => service.name).join(", ") || "none";
  if (name === undefined) {
    if (services.length === 1) return services[0]!;
    throw new TypeError(
      `Cannot choose a service of ${proto.proto.name} as it must have one: name one of ${names}`,
    );
  }
  const found = services.find((service) => service.name === name || service.typeName === name);
  if (found !== undefined) return found;
  throw new TypeError(
    `Cannot find service "${name}" in ${proto.proto.name}: its services are ${names}`,
  );
}
