import { MethodNode, OptionsNode, type ServiceNode } from "./ast.ts";
import type { FileContext } from "./parse_field.ts";
import { parseOption } from "./parse_option.ts";
import { parseTypeName } from "./parse_type.ts";
import type { Location } from "./source_info.ts";
import { Punctuator, recover, type TokenReader } from "./token_reader.ts";

/** Field numbers of `google.protobuf.ServiceDescriptorProto`. */
const ServiceTag = { name: 1, method: 2, options: 3 } as const;
/** Field numbers of `google.protobuf.MethodDescriptorProto`. */
const MethodTag = {
  name: 1,
  inputType: 2,
  outputType: 3,
  options: 4,
  clientStreaming: 5,
  serverStreaming: 6,
} as const;

/** Parses a service from the word `service` on. */
export function parseService(
  context: FileContext,
  service: ServiceNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  reader.lexer.next();
  const nameLocation = reader.open(location, ServiceTag.name);
  service.nameOffset = reader.lexer.start;
  service.name = reader.expectIdentifier("Expected service name.");
  reader.close(nameLocation);

  reader.expectEnd(Punctuator.openBrace, location);
  while (!reader.takeEnd(Punctuator.closeBrace, undefined)) {
    if (reader.atEnd) {
      reader.fail("Reached end of input in service definition (missing '}').");
    }
    recover(reader, () => parseStatement(reader, service, location));
  }
  reader.close(location);
}

function parseStatement(
  reader: TokenReader,
  service: ServiceNode,
  location: Location | undefined,
): void {
  if (reader.takeEnd(Punctuator.semicolon, undefined)) return;
  if (reader.lexer.is("option")) {
    const optionsLocation = reader.open(location, ServiceTag.options);
    service.options ??= new OptionsNode();
    parseOption(reader, service.options, optionsLocation, true);
    reader.close(optionsLocation);
    return;
  }
  const methodLocation = reader.open(location, ServiceTag.method, service.methods.length);
  const method = new MethodNode(service);
  service.methods.push(method);
  parseMethod(reader, method, methodLocation);
  reader.close(methodLocation);
}

function parseMethod(
  reader: TokenReader,
  method: MethodNode,
  location: Location | undefined,
): void {
  const { lexer } = reader;
  reader.expectWord("rpc");
  const nameLocation = reader.open(location, MethodTag.name);
  method.nameOffset = lexer.start;
  method.name = reader.expectIdentifier("Expected method name.");
  reader.close(nameLocation);

  reader.expectSymbol(Punctuator.openParen);
  method.clientStreaming = parseStream(reader, method, location, MethodTag.clientStreaming);
  const inputLocation = reader.open(location, MethodTag.inputType);
  method.inputOffset = lexer.start;
  method.inputType = parseTypeName(reader);
  reader.close(inputLocation);
  reader.expectSymbol(Punctuator.closeParen);

  reader.expectWord("returns");
  reader.expectSymbol(Punctuator.openParen);
  method.serverStreaming = parseStream(reader, method, location, MethodTag.serverStreaming);
  const outputLocation = reader.open(location, MethodTag.outputType);
  method.outputOffset = lexer.start;
  method.outputType = parseTypeName(reader);
  reader.close(outputLocation);
  reader.expectSymbol(Punctuator.closeParen);

  if (lexer.symbol === Punctuator.openBrace) parseMethodOptions(reader, method, location);
  else reader.expectEnd(Punctuator.semicolon, location);
}

function parseStream(
  reader: TokenReader,
  method: MethodNode,
  location: Location | undefined,
  tag: number,
): boolean {
  if (!reader.lexer.is("stream")) return false;
  const streamLocation = reader.open(location, tag);
  method.streamOffset = reader.lexer.start;
  reader.lexer.next();
  reader.close(streamLocation);
  return true;
}

function parseMethodOptions(
  reader: TokenReader,
  method: MethodNode,
  location: Location | undefined,
): void {
  reader.expectEnd(Punctuator.openBrace, location);
  // Braces alone are enough for the descriptor to have options, if empty ones.
  method.options = new OptionsNode();
  const { options } = method;
  while (!reader.takeEnd(Punctuator.closeBrace, undefined)) {
    if (reader.atEnd) {
      reader.fail("Reached end of input in method options (missing '}').");
    }
    if (reader.takeEnd(Punctuator.semicolon, undefined)) continue;
    const optionsLocation = reader.open(location, MethodTag.options);
    recover(reader, () => {
      parseOption(reader, options, optionsLocation, true);
      reader.close(optionsLocation);
    });
  }
}
