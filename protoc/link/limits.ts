/** Longest package name, in characters (protoc's limit). */
export const MAX_PACKAGE_LENGTH = 511;
/** Most dots in a package name (protoc's limit). */
export const MAX_PACKAGE_DOTS = 100;
/** Longest full name, in characters (protoc's limit). */
export const MAX_FULL_NAME = 65535;
/** Most fields in one message (protoc's limit). */
export const MAX_FIELDS = 65535;
/** Levels of messages inside messages, map entries included (protoc's limit). */
export const MAX_MESSAGE_DEPTH = 32;
/** Largest field number: 29 bits are left beside the wire type. */
export const MAX_FIELD_NUMBER = 536870911;
/** Largest extension number of a message set, where numbers are 32-bit values of their own. */
export const MAX_MESSAGE_SET_NUMBER = 2147483647;
/** First field number that protobuf keeps for itself. */
export const FIRST_RESERVED_NUMBER = 19000;
/** Last field number that protobuf keeps for itself. */
export const LAST_RESERVED_NUMBER = 19999;
