/**
 * Ranges of any size that the server streams, as etcd 3.7 does. Older ones are read a page at a time.
 *
 * @module
 */
import { isWithin } from "./range.ts";
import { type CallOptions as GrpcCallOptions, type CallStream, code } from "../grpc/mod.ts";
import { bag, type Calls } from "./calls.ts";
import { cancelled, isStatus, misfit } from "./errors.ts";
import { type KeyValue, keyValueOf } from "./key_value.ts";
import type { Keyspace } from "./keyspace.ts";
import { getMessage } from "./ops.ts";
import { judgeRepeatable, pauseBetween } from "./retry.ts";
import { keyBehind, rangeOf, Scan, type ScanRequest } from "./scan.ts";
import type { CallOptions, GetRequest } from "./types.ts";
import type { RangeMessage, RangeStreamResult } from "./wire.ts";

/** Parts of a client that a stream of a range needs. */
interface RangeStreamHost {
  readonly calls: Calls;
  /** For servers that do not stream, and for the revision there is. */
  readonly keys: Keyspace;
  readonly open: (
    request: RangeMessage,
    options: GrpcCallOptions,
  ) => Promise<CallStream<RangeMessage, RangeStreamResult>>;
  readonly retry: number;
  readonly retrySleep: number;
}

/**
 * The keys of a range, in order, at one revision. A stream that breaks is opened again behind the last
 * key it gave.
 */
export async function* rangeStream(
  host: RangeStreamHost,
  request: ScanRequest,
  options: number | CallOptions | undefined,
): AsyncGenerator<KeyValue> {
  const { calls, keys, retry, retrySleep } = host;
  const { signal, timeout } = bag(options, undefined);
  let rest: GetRequest & { revision: bigint } = {
    ...rangeOf(request),
    revision: getMessage({ key: "a", revision: request.revision ?? 0n }).revision,
  };
  if (rest.revision === 0n) {
    const { header } = await keys.get({ ...rest, countOnly: true }, options);
    rest = { ...rest, revision: header.revision };
  }
  for (let failures = 0;;) {
    let token: string | undefined;
    let call: CallStream<RangeMessage, RangeStreamResult> | undefined;
    try {
      ({ call, token } = await calls.open((given) => host.open(getMessage(rest), given), {
        ...(signal === undefined ? {} : { signal }),
        ...(timeout === undefined ? {} : { timeout }),
      }));
      for await (const { rangeResponse } of call) {
        for (const message of rangeResponse?.kvs ?? []) {
          if (!isWithin(message.key, rest.key as Uint8Array, rest.rangeEnd as Uint8Array)) {
            throw misfit("keys that are not of the range, or not in order");
          }
          rest = { ...rest, key: keyBehind(message.key) };
          failures = 0;
          yield keyValueOf(message);
        }
      }
      return;
    } catch (error) {
      if (signal?.aborted) throw cancelled("getStream", signal);
      if (isStatus(error) && error.code === code.UNIMPLEMENTED) break;
      const again = await calls.refused(token, error) || judgeRepeatable(error) === "retry";
      if (!again || calls.lasting(error) || ++failures > retry) throw calls.explained(error);
      await calls.clock.sleep(pauseBetween(retrySleep), signal).catch(() => {});
    } finally {
      call?.close();
    }
  }
  const { key, rangeEnd, revision } = rest;
  yield* new Scan(keys, {
    ...request,
    prefix: false,
    fromKey: false,
    key,
    ...(rangeEnd === undefined ? {} : { rangeEnd }),
    revision,
  }, options);
}
