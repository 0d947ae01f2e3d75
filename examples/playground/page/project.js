/** The project the page begins with: three files that import each other. */
export const PROJECT = [
  [
    "shop/v1/shop.proto",
    `syntax = "proto3";

package shop.v1;

import "google/protobuf/timestamp.proto";
import "shop/v1/item.proto";
import "shop/v1/money.proto";

// Takes orders.
service Shop {
  // Places an order.
  rpc Place(Order) returns (Receipt);
  // Tells of orders as they come.
  rpc Watch(WatchRequest) returns (stream Order);
}

// An order, as customers make it.
message Order {
  string id = 1;
  repeated Item items = 2;
  map<string, string> notes = 3;
  google.protobuf.Timestamp placed = 4;
  oneof delivery {
    string address = 5;
    bool collect = 6;
  }
}

message Receipt {
  string order_id = 1;
  Money total = 2;
}

message WatchRequest {
  optional int32 limit = 1;
}
`,
  ],
  [
    "shop/v1/item.proto",
    `syntax = "proto3";

package shop.v1;

import "shop/v1/money.proto";

message Item {
  string name = 1;
  uint32 count = 2;
  Money price = 3;
  Size size = 4;
}

enum Size {
  SIZE_UNSPECIFIED = 0;
  SMALL = 1;
  LARGE = 2;
}
`,
  ],
  [
    "shop/v1/money.proto",
    `edition = "2023";

package shop.v1;

message Money {
  string currency = 1;
  int64 cents = 2;
}
`,
  ],
];

/** The message the page begins with. */
export const TYPE = "shop.v1.Order";
export const JSON_TEXT = `{
  "id": "2026-0042",
  "items": [
    {
      "name": "Kettle",
      "count": 1,
      "price": { "currency": "EUR", "cents": "3990" },
      "size": "LARGE"
    }
  ],
  "notes": { "gift": "wrap it" },
  "placed": "2026-11-21T12:00:00Z",
  "collect": true
}`;
