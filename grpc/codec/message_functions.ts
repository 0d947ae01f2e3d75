import type { DescMessage } from "@bufbuild/protobuf";
import { compileDecode, type Decode } from "./compile_decode.ts";
import { compileEncode, type Encode } from "./compile_encode.ts";

/**
 * The two generated functions of one message type. Each is compiled when it is first called, so a message
 * costs nothing for the types below it that never occur, and types may contain themselves.
 */
export class MessageFunctions {
  readonly desc: DescMessage;
  decode: Decode;
  encode: Encode;

  constructor(desc: DescMessage) {
    this.desc = desc;
    this.decode = (b, p, e, d, m, g) => {
      this.decode = compileDecode(desc, functionsOf);
      return this.decode(b, p, e, d, m, g);
    };
    this.encode = (message, o, d) => {
      this.encode = compileEncode(desc, functionsOf);
      return this.encode(message, o, d);
    };
  }
}

const known = new WeakMap<DescMessage, MessageFunctions>();

/** The functions of a message type; the same for every call with the same descriptor. */
export function functionsOf(desc: DescMessage): MessageFunctions {
  let functions = known.get(desc);
  if (functions === undefined) known.set(desc, functions = new MessageFunctions(desc));
  return functions;
}
