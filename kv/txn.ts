/**
 * Transactions: conditions, and what to do if all of them hold or if one does not.
 *
 * @module
 */
import { misfit } from "./errors.ts";
import { bytes, check, choice, int64, range, shown } from "./fields.ts";
import {
  deleteMessage,
  getMessage,
  putMessage,
  readDelete,
  readGet,
  readHeader,
  readPut,
} from "./ops.ts";
import type { Comparison, TxnOperation, TxnRequest, TxnResponse, TxnResult } from "./types.ts";
import type { CompareMessage, RequestOpMessage, TxnMessage, TxnResultMessage } from "./wire.ts";

/** How deep transactions may lie in each other. etcd allows 128 operations in all. */
const MAX_TXN_DEPTH = 128;

const RESULTS = ["EQUAL", "GREATER", "LESS", "NOT_EQUAL"];

/** Fields that can be compared, by etcd's numbers. */
const TARGETS = ["version", "createRevision", "modRevision", "value", "lease"] as const;

/** @throws {TypeError} If the request is not one. */
export function txnMessage(request: TxnRequest, depth = 1): TxnMessage {
  check("txn", request);
  if (depth > MAX_TXN_DEPTH) {
    throw new TypeError(
      `Cannot txn as transactions in each other must be <= ${MAX_TXN_DEPTH} deep`,
    );
  }
  return {
    compare: list("compare", request.compare).map(compareMessage),
    success: list("success", request.success).map((one) => operationMessage(one, depth)),
    failure: list("failure", request.failure).map((one) => operationMessage(one, depth)),
  };
}

/** Whether a transaction changes nothing whichever way it goes. */
export function isReadOnly({ success, failure }: TxnMessage): boolean {
  return [...success, ...failure].every(({ request }) =>
    request.case === "requestRange" || request.case === "requestTxn" && isReadOnly(request.value)
  );
}

function list<T>(name: string, value: readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new TypeError(`Cannot txn as ${name} must be an array: current value is ${shown(value)}`);
}

function compareMessage(comparison: Comparison): CompareMessage {
  check("compare", comparison);
  const given = TARGETS.filter((name) => comparison[name] !== undefined);
  const [target] = given;
  if (target === undefined || given.length > 1) {
    throw new TypeError(
      `Cannot compare as one of ${TARGETS.join(", ")} must be given: given are ${
        given.join(", ") || "none"
      }`,
    );
  }
  const { key, rangeEnd } = range("compare", comparison);
  return {
    key,
    rangeEnd,
    result: choice("compare", "result", RESULTS, comparison.result),
    target: TARGETS.indexOf(target),
    targetUnion: target === "value"
      ? { case: target, value: bytes("compare", target, comparison.value) }
      : { case: target, value: int64("compare", target, comparison[target]) },
  };
}

function operationMessage(operation: TxnOperation, depth: number): RequestOpMessage {
  const names = typeof operation === "object" && operation !== null ? Object.keys(operation) : [];
  if (names.length === 1) {
    if ("put" in operation) {
      return { request: { case: "requestPut", value: putMessage(operation.put) } };
    }
    if ("get" in operation) {
      return { request: { case: "requestRange", value: getMessage(operation.get) } };
    }
    if ("delete" in operation) {
      return { request: { case: "requestDeleteRange", value: deleteMessage(operation.delete) } };
    }
    if ("txn" in operation) {
      return { request: { case: "requestTxn", value: txnMessage(operation.txn, depth + 1) } };
    }
  }
  throw new TypeError(
    `Cannot txn with an operation that is not one of { put }, { get }, { delete }, { txn }: given are ${
      names.join(", ") || "none"
    }`,
  );
}

/** See {@linkcode TxnResponse}. */
export function readTxn(message: TxnResultMessage, request: TxnMessage): TxnResponse {
  const { succeeded, responses } = message;
  const operations = succeeded ? request.success : request.failure;
  if (responses.length !== operations.length) {
    throw misfit(`${responses.length} responses to ${operations.length} operations`);
  }
  return {
    header: readHeader(message),
    succeeded,
    responses: responses.map(({ response }, i): TxnResult => {
      const operation = operations[i]!.request;
      if (response.case?.slice("response".length) !== operation.case.slice("request".length)) {
        throw misfit(`${response.case ?? "nothing"} to a ${operation.case}`);
      }
      switch (response.case) {
        case "responsePut":
          return { put: readPut(response.value) };
        case "responseRange":
          return { get: readGet(response.value) };
        case "responseDeleteRange":
          return { delete: readDelete(response.value) };
        case "responseTxn":
          return { txn: readTxn(response.value, operation.value as TxnMessage) };
        case undefined:
          throw misfit("a part of it is empty");
      }
    }),
  };
}
