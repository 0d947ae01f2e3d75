// Types of shop/v1/money.proto, shop/v1/shop.proto, written by @sluice/sluice/protoc. Do not edit.
// deno-lint-ignore-file
import type { JsonObject, Message, Registry } from "npm:@bufbuild/protobuf@^2";
import type { GenMessage, GenService } from "npm:@bufbuild/protobuf@^2/codegenv2";
import type {
  BoolValue,
  Empty,
  StringValue,
  Timestamp,
  Value,
} from "npm:@bufbuild/protobuf@^2/wkt";

/** shop.v1.Item.Size */
export const Item_Size = {
  UNSPECIFIED: 0,
  SMALL: 1,
  LARGE: 2,
} as const;
/** A value of shop.v1.Item.Size */
export type Item_Size =
  | (typeof Item_Size)[keyof typeof Item_Size]
  | (number & Record<never, never>);

/** shop.v1.Money */
export type Money = Message<"shop.v1.Money"> & {
  currency: string;
  cents: bigint;
};

/** shop.v1.GetItemRequest */
export type GetItemRequest = Message<"shop.v1.GetItemRequest"> & {
  itemId: string;
  revision?: number | undefined;
};

/** shop.v1.Item */
export type Item = Message<"shop.v1.Item"> & {
  id: string;
  stock: bigint;
  serial: string;
  picture: Uint8Array;
  tags: string[];
  sizes: Item_Size[];
  prices: { [key: string]: Money };
  byShelf: { [key: number]: Item_Size };
  added?: Timestamp | undefined;
  note?: string | undefined;
  notes: StringValue[];
  extra?: JsonObject | undefined;
  anything?: Value | undefined;
  offer:
    | { value: Money; case: "fixed" }
    | { value: number; case: "discount" }
    | { value: BoolValue; case: "free" }
    | { case: undefined; value?: undefined };
  size: Item_Size;
  replacedBy?: Item | undefined;
};

/** shop.v1.Item.Part */
export type Item_Part = Message<"shop.v1.Item.Part"> & {
  weight: number;
};

/** shop.v1.Timestamp */
export type shop_v1_Timestamp = Message<"shop.v1.Timestamp"> & {
  toJSON$: string;
};

/** shop.v1.delete */
export type delete$ = Message<"shop.v1.delete">;

/**
 * Sells things.
 *
 * shop.v1.Shop
 */
export type Shop = GenService<{
  getItem: {
    methodKind: "unary";
    input: GenMessage<GetItemRequest>;
    output: GenMessage<Item>;
  };
  listItems: {
    methodKind: "server_streaming";
    input: GenMessage<Empty>;
    output: GenMessage<Item>;
  };
  putItems: {
    methodKind: "client_streaming";
    input: GenMessage<Item>;
    output: GenMessage<Empty>;
  };
  haggle: {
    methodKind: "bidi_streaming";
    input: GenMessage<Money>;
    output: GenMessage<Money>;
  };
}>;

/** shop.v1.Closed */
export type Closed = GenService<Record<never, never>>;

/** Every message by its full name. */
export interface Messages {
  "shop.v1.Money": GenMessage<Money>;
  "shop.v1.GetItemRequest": GenMessage<GetItemRequest>;
  "shop.v1.Item": GenMessage<Item>;
  "shop.v1.Item.Part": GenMessage<Item_Part>;
  "shop.v1.Timestamp": GenMessage<shop_v1_Timestamp>;
  "shop.v1.delete": GenMessage<delete$>;
}

/** The loaded message of that name. Throws `TypeError` when it was not loaded. */
export function message<Name extends keyof Messages>(
  registry: Pick<Registry, "getMessage">,
  name: Name,
): Messages[Name] {
  const found = registry.getMessage(name);
  if (found === undefined) throw new TypeError(`No message ${name} was loaded`);
  return found as unknown as Messages[Name];
}

/** Every service by its full name. */
export interface Services {
  "shop.v1.Shop": Shop;
  "shop.v1.Closed": Closed;
}

/** The loaded service of that name. Throws `TypeError` when it was not loaded. */
export function service<Name extends keyof Services>(
  registry: Pick<Registry, "getService">,
  name: Name,
): Services[Name] {
  const found = registry.getService(name);
  if (found === undefined) throw new TypeError(`No service ${name} was loaded`);
  return found as unknown as Services[Name];
}

/** Fingerprints by file, for the option `types` of a `Loader`: it refuses other text. */
export const types = {
  "shop/v1/money.proto": {
    "shop.v1.Money": "2aca46af0e042f87",
  },
  "shop/v1/shop.proto": {
    "shop.v1.GetItemRequest": "b85df5d36a8ba89b",
    "shop.v1.Item": "c691868d35a015e5",
    "shop.v1.Item.Size": "336826175a46887f",
    "shop.v1.Item.Part": "ff0123833287a9fb",
    "shop.v1.Timestamp": "5a968dc26b185efe",
    "shop.v1.delete": "ed03cc8c2635f392",
    "shop.v1.Shop": "5012234d399828b9",
    "shop.v1.Closed": "066ae50c4fef60c2",
  },
} as const;
