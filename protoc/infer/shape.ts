import type { JsonObject, Message } from "@bufbuild/protobuf";
import type { GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Declaration, LiteralFile, Oneof, Says } from "./parse.ts";
import type { WellKnownEnum, WellKnownMessage, WellKnownTypes, Wrappers } from "./well_known.ts";
import type { Camel, Join, Safe, Trim, TrimEnd, TrimStart, Up } from "./words.ts";

// deno-lint-ignore no-explicit-any -- as it is without inference
type Unknown = any;

/**
 * Declarations by full name, and the rules they are read by.
 *
 * @ignore
 */
export interface FileScope {
  readonly syntax: LiteralFile["syntax"];
  readonly closed: boolean;
  readonly types: Readonly<Record<string, Declaration>>;
}

/** A parsed file, its declarations by name. */
export interface ScopeOf<File extends LiteralFile> {
  readonly syntax: File["syntax"];
  readonly closed: File["closed"];
  readonly types: { readonly [D in File["declarations"][number] as D["name"]]: D };
}

/**
 * Messages by full name.
 *
 * @ignore
 */
export type Messages<S extends FileScope> = {
  readonly [
    N in keyof S["types"] & string as S["types"][N]["kind"] extends "message" ? N : never
  ]: GenMessage<MessageOf<N, S>>;
};

/**
 * Enums by full name, as the numbers of their values.
 *
 * @ignore
 */
export type Enums<S extends FileScope> = {
  readonly [N in keyof S["types"] & string as S["types"][N]["kind"] extends "enum" ? N : never]:
    EnumOf<S, N>;
};

/**
 * Services by full name.
 *
 * @ignore
 */
export type Services<S extends FileScope> = {
  readonly [
    N in keyof S["types"] & string as S["types"][N]["kind"] extends "service" ? N : never
  ]: ServiceOf<S, N>;
};

/** Scalar types, as fields show them. */
interface Scalars {
  double: number;
  float: number;
  int32: number;
  uint32: number;
  sint32: number;
  fixed32: number;
  sfixed32: number;
  int64: bigint;
  uint64: bigint;
  sint64: bigint;
  fixed64: bigint;
  sfixed64: bigint;
  bool: boolean;
  string: string;
  bytes: Uint8Array;
}

type Longs = "int64" | "uint64" | "sint64" | "fixed64" | "sfixed64";

/** Types of keys that are numbers in objects. */
type NumberKeys = "int32" | "uint32" | "sint32" | "fixed32" | "sfixed32";

/** The type of a message. */
type MessageOf<Name extends string, S extends FileScope> =
  & Message<Name>
  & Fields<S, Name, S["types"][Name]["body"][number]>;

type Fields<S extends FileScope, Name extends string, Statement> = Flat<
  & {
    [P in FieldOf<S, Name, Statement> as P["optional"] extends true ? never : P["local"]]: TypeOf<
      S,
      Name,
      P["source"]
    >;
  }
  & {
    [P in FieldOf<S, Name, Statement> as P["optional"] extends true ? P["local"] : never]?:
      | TypeOf<S, Name, P["source"]>
      | undefined;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

/**
 * A field, or a oneof, as an object shows it. Its type is not looked at before it is asked for:
 * messages may have themselves in them.
 */
interface Property<Local extends string, Optional extends boolean, Source> {
  readonly local: Local;
  readonly optional: Optional;
  readonly source: Source;
}

interface AnyProperty {
  readonly local: string;
  readonly optional: boolean;
  readonly source: unknown;
}

/** Where the type of a property is written. */
interface One<Type extends string, AsString extends boolean> {
  readonly one: Type;
  readonly asString: AsString;
}

interface Many<Type extends string, AsString extends boolean> {
  readonly many: Type;
  readonly asString: AsString;
}

interface Table<Key extends string, Type extends string> {
  readonly key: Key;
  readonly value: Type;
}

type FieldOf<S extends FileScope, Scoped extends string, Statement> =
  (Statement extends Oneof ? Property<Safe<Camel<Statement["oneof"]>>, false, Statement>
    : Statement extends string ? FieldIn<S, Scoped, Split<Statement>>
    : never) extends infer P extends AnyProperty ? P : never;

type TypeOf<S extends FileScope, Scoped extends string, Source> = Source extends
  One<infer Type, infer AsString> ? ValueOf<S, Scoped, Type, AsString, true>
  : Source extends Many<infer Type, infer AsString> ? ValueOf<S, Scoped, Type, AsString, false>[]
  : Source extends Table<infer Key, infer Type>
    ? Key extends NumberKeys ? { [key: number]: ValueOf<S, Scoped, Type, false, false> }
    : { [key: string]: ValueOf<S, Scoped, Type, false, false> }
  : Source extends Oneof ? Cases<S, Scoped, Source["body"][number]>
  : never;

/** The declaration of a field without its options, and whether 64 bits are to be strings. */
interface FieldText<Text extends string, AsString extends boolean> {
  readonly text: Text;
  readonly asString: AsString;
}

/** Statements of messages that are no fields give never. */
type Split<Statement extends string> = Statement extends
  | `option ${string}`
  | `option(${string}`
  | `reserved ${string}`
  | `reserved"${string}`
  | `extensions ${string}` ? never
  : Statement extends `${infer Text}[${infer Options}`
    ? FieldText<BeforeNumber<Text>, Options extends `${string}JS_STRING${string}` ? true : false>
  : FieldText<BeforeNumber<Statement>, false>;

type BeforeNumber<Text extends string> = Text extends `${infer Before}=${string}` ? TrimEnd<Before>
  : Text;

type FieldIn<S extends FileScope, Scoped extends string, Field> = Field extends
  FieldText<infer Text, infer AsString>
  ? Text extends `map${infer Angle}<${infer Key},${infer Value}>${infer Name}`
    ? Trim<Angle> extends ""
      ? Property<Safe<Camel<Trim<Name>>>, false, Table<Trim<Key>, Trim<Value>>>
    : never
  : Text extends `repeated ${infer Rest}` ? ListField<TrimStart<Rest>, AsString>
  : Text extends `optional ${infer Rest}`
    ? OneField<S, Scoped, TrimStart<Rest>, AsString, S["syntax"] extends "proto3" ? true : false>
  : Text extends `required ${infer Rest}` ? OneField<S, Scoped, TrimStart<Rest>, AsString, false>
  : OneField<S, Scoped, Text, AsString, false>
  : never;

type OneField<
  S extends FileScope,
  Scoped extends string,
  Text extends string,
  AsString extends boolean,
  Optional extends boolean,
> = Text extends `${infer Type} ${infer Name}` ? Property<
    Safe<Camel<Trim<Name>>>,
    Type extends keyof Scalars ? Optional : IsMessage<S, Resolve<S, Scoped, Type>, Optional>,
    One<Type, AsString>
  >
  : never;

type ListField<Text extends string, AsString extends boolean> = Text extends
  `${infer Type} ${infer Name}` ? Property<Safe<Camel<Trim<Name>>>, false, Many<Type, AsString>>
  : never;

/** The cases of a oneof. */
type Cases<S extends FileScope, Scoped extends string, Statement> =
  | { case: undefined; value?: undefined }
  | (Statement extends string ? CaseOf<S, Scoped, Split<Statement>> : never);

type CaseOf<S extends FileScope, Scoped extends string, Field> = Field extends
  FieldText<infer Text, infer AsString> ? Text extends `${infer Type} ${infer Name}` ? {
      value: ValueOf<S, Scoped, Type, AsString, false>;
      case: Safe<Camel<Trim<Name>>>;
    }
  : never
  : never;

/** The value of a field. `Unwrap` is for fields that are neither repeated nor in a oneof. */
type ValueOf<
  S extends FileScope,
  Scoped extends string,
  Type extends string,
  AsString extends boolean,
  Unwrap extends boolean,
> = Type extends keyof Scalars
  ? Type extends Longs ? AsString extends true ? string : Scalars[Type] : Scalars[Type]
  : Named<S, Resolve<S, Scoped, Type>, Unwrap>;

type Named<S extends FileScope, Name extends string, Unwrap extends boolean> = Name extends
  keyof S["types"] ? S["types"][Name]["kind"] extends "enum" ? EnumOf<S, Name>
  : MessageOf<Name, S>
  : Name extends "google.protobuf.Struct" ? JsonObject
  : Name extends keyof Wrappers
    ? Unwrap extends true ? Wrappers[Name] : ShapeOf<WellKnownTypes[Name]>
  : Name extends keyof WellKnownTypes ? ShapeOf<WellKnownTypes[Name]>
  : Unknown;

type ShapeOf<Known> = Known extends WellKnownMessage<infer Shape> | WellKnownEnum<infer Shape>
  ? Shape
  : never;

/** Whether the field of a type is optional: messages are, enums are if they say so. */
type IsMessage<S extends FileScope, Name extends string, Optional extends boolean> = Name extends
  keyof S["types"] ? S["types"][Name]["kind"] extends "enum" ? Optional : true
  : Name extends keyof WellKnownTypes
    ? WellKnownTypes[Name] extends WellKnownEnum<unknown> ? Optional : true
  : true;

/** The full name that `Type` means in a scope; "" if it means none that is known. */
type Resolve<S extends FileScope, Scoped extends string, Type extends string> = Type extends
  `.${infer Full}` ? Full
  : Join<Scoped, Type> extends infer Full extends string
    ? Full extends keyof S["types"] | keyof WellKnownTypes ? Full
    : Scoped extends "" ? ""
    : Resolve<S, Up<Scoped>, Type>
  : never;

/** A value of an enum. Open enums have others, too. */
type EnumOf<S extends FileScope, Name extends string> = EnumShape<
  S["types"][Name]["body"][number],
  S["closed"]
>;

type EnumShape<Statement, Closed extends boolean> = Says<Statement, "CLOSED"> extends true
  ? Numbers<Statement>
  : Says<Statement, "OPEN"> extends true ? Numbers<Statement> | OtherNumber
  : Closed extends true ? Numbers<Statement>
  : Numbers<Statement> | OtherNumber;

type OtherNumber = number & Record<never, never>;

type Numbers<Statement> = Statement extends string
  ? Statement extends `option ${string}` | `option(${string}` | `reserved${string}` ? never
  : Statement extends `${infer Text}[${string}` ? NumberIn<Text>
  : NumberIn<Statement>
  : never;

type NumberIn<Text extends string> = Text extends `${string}=${infer Digits}`
  ? Compact<Trim<Digits>> extends `${infer Value extends number}` ? Value : number
  : never;

type Compact<Text extends string> = Text extends `-${infer Digits}` ? `-${Trim<Digits>}` : Text;

/** The type of a service. */
type ServiceOf<S extends FileScope, Name extends string> = GenService<
  Methods<S, Name, S["types"][Name]["body"][number]>
>;

type Methods<S extends FileScope, Service extends string, Statement> = {
  [R in RpcOf<Statement> as Safe<Uncapitalize<R["name"]>>]: {
    methodKind: R["requests"] extends true
      ? R["responses"] extends true ? "bidi_streaming" : "client_streaming"
      : R["responses"] extends true ? "server_streaming"
      : "unary";
    input: GenMessage<MessageFor<S, Resolve<S, Service, R["input"]>>>;
    output: GenMessage<MessageFor<S, Resolve<S, Service, R["output"]>>>;
  };
};

/** The message of a method. */
type MessageFor<S extends FileScope, Name extends string> = Name extends keyof S["types"]
  ? MessageOf<Name, S>
  : Name extends keyof WellKnownTypes
    ? WellKnownTypes[Name] extends WellKnownMessage<infer Shape extends Message> ? Shape : never
  : Unknown;

/** A method, read. */
interface Rpc {
  readonly name: string;
  readonly requests: boolean;
  readonly input: string;
  readonly responses: boolean;
  readonly output: string;
}

type RpcOf<Statement> = Statement extends
  `rpc ${infer Name}(${infer In})${string}(${infer Out})${string}` ? {
    readonly name: Trim<Name>;
    readonly requests: IsStream<Trim<In>>;
    readonly input: TypeIn<Trim<In>>;
    readonly responses: IsStream<Trim<Out>>;
    readonly output: TypeIn<Trim<Out>>;
  } extends infer R extends Rpc ? R : never
  : never;

type IsStream<Text extends string> = Text extends `stream ${string}` ? true : false;

type TypeIn<Text extends string> = Text extends `stream ${infer Type}` ? Trim<Type> : Text;
